"""A SPARQL store on this machine over pyoxigraph, which can misbehave as real ones do."""

import json
import threading
import urllib.parse
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyoxigraph as ox


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store = ox.Store()
        self.queries: list[str] = []
        self.updates: list[str] = []
        self.refusals: list[int] = []  # used up, one a request: answer with this status instead
        self.most_rows = 10**9  # of an answer, whatever LIMIT says
        self.login: str | None = None  # user:password

    @property
    def url(self) -> str:
        return f"sparql+http://127.0.0.1:{self.server_port}/sparql"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        fields = urllib.parse.parse_qs(self.rfile.read(size).decode())
        login = self.server.login
        if self.server.refusals:
            return self.answer(self.server.refusals.pop(0), "text/plain", b"<p>not <b>now</b></p>")
        if (
            login
            and self.headers.get("Authorization") != f"Basic {b64encode(login.encode()).decode()}"
        ):
            return self.answer(401, "text/plain", b"who?")
        try:
            if "update" in fields:
                self.server.updates.append(fields["update"][0])
                self.server.store.update(fields["update"][0])
                return self.answer(204, "text/plain", b"")
            return self.found(fields["query"][0])
        except SyntaxError as error:
            return self.answer(400, "text/plain", f"Syntax error:\n {error}".encode())

    def found(self, query: str) -> None:
        self.server.queries.append(query)
        found = self.server.store.query(query, use_default_graph_as_union=True)
        if isinstance(found, ox.QueryTriples):
            form = ox.RdfFormat.N_TRIPLES
            return self.answer(200, form.media_type, found.serialize(format=form) or b"")
        form = ox.QueryResultsFormat.JSON
        return self.answer(200, form.media_type, _shortened(found, self.server.most_rows))

    def answer(self, status: int, media: str, content: bytes) -> None:
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="store"')
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def _shortened(found: ox.QuerySolutions, most: int) -> bytes:
    answer = json.loads(found.serialize(format=ox.QueryResultsFormat.JSON))
    answer["results"]["bindings"] = answer["results"]["bindings"][:most]
    return json.dumps(answer).encode()


@contextmanager
def serving() -> Iterator[Server]:
    """A store that runs in a thread until the end of the block."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
