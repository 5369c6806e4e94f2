"""Who may ask the server of a review: everything is refused but what its own page sends.

The server listens on a person's own machine, where every page that is open in a browser can send
requests to it. So each request must name a host by which this server is known (a foreign name that
was made to point here is refused), must come from the page itself, and must bring the token of a
reviewer: in the address at first, in a cookie from then on.
"""

import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

MOST_BYTES = 64 * 1024  # of the body of a request; a note has at most a few thousand letters
MOST_ADDRESS_BYTES = 8 * 1024
COOKIE = "assent_review"
TOKEN = "token"
METHODS = ("GET", "HEAD", "POST")

# What a browser may do with the page: run and show the files of this server, ask this server, and
# nothing else. No text can become markup or a script (trusted types), whatever a name contains.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class RefusedError(HTTPException):
    """A request that is not answered: a status and one sentence."""


class Guard:
    """Lets requests of reviewers through to an application, and adds HEADERS to every answer.

    `tokens` says who has which token: token -> reviewer. `hosts` are the names by which this server
    is known, without a port. The application finds the reviewer in `scope["reviewer"]`.
    """

    def __init__(
        self, application: Application, tokens: Mapping[str, str], hosts: frozenset[str]
    ) -> None:
        self.application, self.tokens, self.hosts = application, dict(tokens), hosts

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self.application(scope, receive, send)
        if scope["type"] != "http":
            raise RuntimeError(f"{scope['type']} is not spoken here")
        cookies: list[str] = []

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [*HEADERS.items(), *(("set-cookie", cookie) for cookie in cookies)]
                message["headers"] = [
                    *message.get("headers", ()),
                    *((name.encode(), value.encode()) for name, value in more),
                ]
            await send(message)

        try:
            token, is_new = self._checked(scope)
            if is_new:
                cookies.append(
                    f"{_cookie(scope)}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000"
                )
            scope["reviewer"] = self.tokens[token]
            await self.application(scope, _bounded(receive), answer)
        except RefusedError as refused:
            await _refuse(refused, answer)
        except ClientDisconnect:  # nobody waits for an answer
            pass

    def _checked(self, scope: Message) -> tuple[str, bool]:
        """The token of the request, and whether it came in the address; raises RefusedError."""
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            if key in headers and key in ("host", "origin", "content-length"):
                raise RefusedError(400, f"two headers {key}; expected one")
            headers[key] = value.decode("latin-1")
        host = headers.get("host", "")
        if _hostname(host) not in self.hosts:
            raise RefusedError(421, "this server is not known by that name")
        if scope["method"] not in METHODS:
            raise RefusedError(405, f"the methods are {', '.join(METHODS)}")
        if len(scope["raw_path"]) + len(scope["query_string"]) > MOST_ADDRESS_BYTES:
            raise RefusedError(414, "the address is too long")
        changes = scope["method"] == "POST"
        origin = headers.get("origin")
        if (changes and origin is None) or (origin is not None and not _same(origin, host)):
            raise RefusedError(403, "only the page of this review may ask this")
        if headers.get("sec-fetch-site") == "cross-site" and scope["path"] != "/":
            raise RefusedError(403, "only the page of this review may ask this")
        token, is_new = self._token(scope, headers.get("cookie", ""))
        if changes and headers.get("content-type", "").partition(";")[0] != "application/json":
            raise RefusedError(415, "expected JSON")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > MOST_BYTES:
            raise RefusedError(413, f"at most {MOST_BYTES:,} bytes may be sent")
        return token, is_new

    def _token(self, scope: Message, cookie: str) -> tuple[str, bool]:
        """The token in the address of the page, or else in the cookie; known, or refused."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get(TOKEN, [])
        is_new = bool(given) and scope["path"] == "/" and scope["method"] == "GET"
        if not is_new:
            try:
                kept = SimpleCookie(cookie).get(_cookie(scope))
            except CookieError:
                kept = None
            given = [kept.value] if kept else []
        for known in self.tokens:
            for one in given[:1]:
                if hmac.compare_digest(known.encode(), one.encode("utf-8", "replace")):
                    return known, is_new
        raise RefusedError(
            403, "open the address that `assent review` printed: it has a token that is yours"
        )


def _bounded(receive: Receive) -> Receive:
    """Refuses a body as soon as more than MOST_BYTES of it have come."""
    seen = 0

    async def received() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            raise RefusedError(413, f"at most {MOST_BYTES:,} bytes may be sent")
        return message

    return received


async def _refuse(refused: RefusedError, send: Send) -> None:
    text = f"{refused.detail}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        (b"connection", b"close"),  # what else was sent is never read
    ]
    await send({"type": "http.response.start", "status": refused.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def _hostname(host: str) -> str:
    """The name in a Host header, without the port; empty where it cannot be read."""
    try:
        split = urlsplit(f"//{host}")
        _ = split.port  # raises ValueError for what is no port
    except ValueError:
        return ""
    return (split.hostname or "") if split.netloc == host and "@" not in host else ""


def _same(origin: str, host: str) -> bool:
    """Whether a page of this origin was served under this host; TLS may end before this server."""
    return origin in (f"http://{host}", f"https://{host}")


def _cookie(scope: Message) -> str:
    """The name of the cookie: cookies know no ports, and two reviews may run on one machine."""
    return f"{COOKIE}_{scope['server'][1]}"
