"""Serves the page of a review until it is told to stop."""

import asyncio
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_address
from urllib.parse import quote

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from assent.errors import ConfigError
from assent.reviewing.page.guard import TOKEN, Application, Guard

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SECONDS_TO_ASK = 10  # that a request may take to come, with its body, or to begin
SECONDS_TO_END = 3  # that answers under way may take once the server is told to stop


def serve(
    application: Application,
    tokens: Mapping[str, str],
    bound: socket.socket,
    *,
    host: str = "127.0.0.1",
    names: Iterable[str] = (),
    ready: Callable[[Mapping[str, str]], None],
) -> None:
    """Answers requests until a signal ends it; `bound_to` made the socket, for this host.

    `tokens` has the token of each reviewer. `names` are further names by which others reach this
    machine. `ready` is told the address of each reviewer once the server listens.
    """
    with bound:
        number = bound.getsockname()[1]
        with _refusing(host, number):
            bound.listen(100)
        known = {name.lower() for name in (host, *names)} - {"0.0.0.0", "::"}
        if _is_any(host) or host in LOOPBACK:
            known |= set(LOOPBACK)
        shown = next(iter(names), "127.0.0.1" if _is_any(host) else host)
        shown = f"[{shown}]" if ":" in shown else shown
        by_token = {token: reviewer for reviewer, token in tokens.items()}
        config = uvicorn.Config(
            Guard(application, by_token, frozenset(known)),
            http=Prompt,
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=100,
            timeout_keep_alive=SECONDS_TO_ASK,
            timeout_graceful_shutdown=SECONDS_TO_END,
            h11_max_incomplete_event_size=32 * 1024,
        )
        ready(
            {
                reviewer: f"http://{shown}:{number}/?{TOKEN}={quote(token)}"
                for reviewer, token in tokens.items()
            }
        )
        uvicorn.Server(config).run(sockets=[bound])


class Prompt(H11Protocol):
    """A connection that is closed where a request does not come whole within SECONDS_TO_ASK.

    So it is where none begins. Connections are limited in number: those of clients that send
    nothing, or half a request, would keep all others out.
    """

    waiting: asyncio.TimerHandle | None = None  # since a request is waited for

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]:
            self._rest()  # a request begins, and has all the time
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Waits from now on, if it is the client's turn and nobody waits yet."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._rest()
        elif self.waiting is None:
            self.waiting = self.loop.call_later(SECONDS_TO_ASK, self.transport.abort)

    def _rest(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None


def bound_to(host: str, port: int) -> socket.socket:
    """A socket on this host and port (0: one that is free), which is for nobody else from now on.

    It listens once the page is served.
    """
    if not 0 <= port <= 65535:
        raise ConfigError(f"port {port}: expected a number up to 65535")
    with _refusing(host, port):
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
        except OSError:
            bound.close()
            raise
    bound.set_inheritable(False)
    return bound


@contextmanager
def _refusing(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{host}, port {port}: cannot listen there: {reason}; "
            "choose another; port 0 is any that is free"
        ) from error


def _is_any(host: str) -> bool:
    """Whether this address stands for all addresses of the machine."""
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False
