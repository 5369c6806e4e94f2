"""The guard, request by request: only what the page of the review sends itself is let through."""

import asyncio

import pytest

from assent.reviewing.page.guard import HEADERS, MOST_BYTES, Guard

TOKEN, OTHER = "anna-has-this-token", "ben-has-this-token"
PORT = 8321
HOME = f"127.0.0.1:{PORT}"
COOKIE = f"assent_review_{PORT}={TOKEN}"


async def application(scope, receive, send):
    """Reads the whole body; answers who asks and how many bytes there were."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": f"{scope['reviewer']} {size}".encode()})


class Asked:
    """One request to the guard, and its answer."""

    def __init__(self, method="GET", path="/", query="", parts=(b"",), **headers):
        self.read = 0  # bytes of the body that were asked for
        given = {"host": HOME, "cookie": COOKIE}
        if method == "POST":
            given |= {"origin": f"http://{HOME}", "content-type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "server": ("127.0.0.1", PORT),
            "headers": [
                (name.encode(), value.encode("latin-1"))
                for name, values in given.items()
                if values is not None
                for value in ([values] if isinstance(values, str) else values)
            ],
        }
        left = list(parts)
        sent = []

        async def receive():
            body = left.pop(0)
            self.read += len(body)
            return {"type": "http.request", "body": body, "more_body": bool(left)}

        async def send(message):
            sent.append(message)

        guard = Guard(
            application, {TOKEN: "anna", OTHER: "ben"}, frozenset({"127.0.0.1", "localhost", "::1"})
        )
        asyncio.run(guard(scope, receive, send))
        self.status = sent[0]["status"]
        self.headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        self.text = b"".join(message.get("body", b"") for message in sent).decode()


def test_a_token_in_the_address_opens_the_page_and_becomes_a_cookie():
    asked = Asked(query=f"token={OTHER}", cookie=None)
    assert (asked.status, asked.text) == (200, "ben 0")
    cookie = asked.headers["set-cookie"]
    assert cookie.startswith(f"assent_review_{PORT}={OTHER}; ")
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie


def test_the_cookie_says_who_it_is_and_is_not_sent_again():
    asked = Asked(path="/api/next")
    assert (asked.status, asked.text) == (200, "anna 0") and "set-cookie" not in asked.headers


@pytest.mark.parametrize(
    "given",
    [
        {"cookie": None},
        {"cookie": f"assent_review_{PORT}="},
        {"cookie": f"assent_review_{PORT}=wrong"},
        {"cookie": f"assent_review_{PORT}={TOKEN}x"},
        {"cookie": f"assent_review_9999={TOKEN}"},  # of another review on this machine
        {"cookie": "\xff\xfe; ;;=;\x01"},
        {"cookie": None, "query": "token=wrong"},
        {"cookie": None, "query": "token="},
        {"cookie": None, "query": f"token=wrong&token={TOKEN}"},
        {"query": "token=wrong"},  # the address is believed, not an older cookie
        {"cookie": None, "query": f"token={TOKEN}", "path": "/api/next"},  # opens the page alone
        {"cookie": None, "query": f"token={TOKEN}", "method": "POST"},
        {"cookie": None, "authorization": f"Bearer {TOKEN}"},
    ],
)
def test_without_a_token_that_is_known_nothing_is_told(given):
    asked = Asked(**given)
    assert asked.status == 403 and "anna" not in asked.text and "set-cookie" not in asked.headers


@pytest.mark.parametrize("host", ["localhost:9", "LOCALHOST", "[::1]:8321", "127.0.0.1"])
def test_it_is_known_by_the_names_of_this_machine_whatever_the_port(host):
    assert Asked(host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1.evil.example",
        "evil.example@127.0.0.1",
        "127.0.0.1@evil.example",
        "127.0.0.1/evil.example",
        "127.0.0.1:x",
        "127.0.0.1:99999",
        "[::1",
        "0.0.0.0",
    ],
)
def test_a_foreign_host_is_refused_though_the_token_is_right(host):
    assert Asked(host=host).status == 421


def test_two_hosts_are_refused():
    assert Asked(host=(HOME, "evil.example")).status == 400


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:9999",
        f"http://127.0.0.1:{PORT}.evil.example",
        f"http://localhost:{PORT}",  # not the name under which the page was opened
        f"file://{HOME}",
    ],
)
def test_what_changes_something_comes_from_the_page_itself(origin):
    assert Asked("POST", "/api/decide", origin=origin).status == 403
    assert Asked("POST", "/api/decide").status == 200


def test_a_foreign_origin_may_not_even_read():
    assert Asked(path="/api/next", origin="http://evil.example").status == 403
    assert Asked(path="/api/next", sec_fetch_site="cross-site").status == 403
    assert Asked(path="/api/next", sec_fetch_site="same-origin").status == 200
    assert Asked(sec_fetch_site="cross-site").status == 200  # a link in a mail opens the page


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "X"])
def test_other_methods_are_refused(method):
    assert Asked(method).status == 405


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "json"])
def test_only_json_is_taken_so_that_no_form_of_another_page_can_send_it(kind):
    assert Asked("POST", content_type=kind).status == 415


def test_a_large_body_is_refused_unread():
    asked = Asked("POST", parts=[b"x"], content_length=str(100_000_000))
    assert (asked.status, asked.read) == (413, 0) and asked.headers["connection"] == "close"


def test_a_large_body_of_unknown_length_is_refused_once_it_is_too_large():
    parts = [b"x" * 10_000] * 1_000
    asked = Asked("POST", parts=parts)
    assert asked.status == 413 and MOST_BYTES < asked.read <= MOST_BYTES + 10_000
    assert Asked("POST", parts=[b"x" * 10_000] * 6).text == "anna 60000"


@pytest.mark.parametrize("length", ["-1", "1e3", "", " 5", "٣", "5, 5", "99999999999999999999"])
def test_a_length_that_is_no_number_is_refused(length):
    try:
        length.encode("latin-1")
    except UnicodeEncodeError:
        length = "\xb3"
    assert Asked("POST", content_length=length).status == 413


def test_two_lengths_are_refused():
    assert Asked("POST", content_length=("1", "100000000")).status == 400


def test_an_endless_address_is_refused():
    assert Asked(query="a=" + "x" * 10_000).status == 414


@pytest.mark.parametrize("given", [{}, {"host": "evil.example"}, {"method": "PUT"}])
def test_every_answer_forbids_what_the_page_does_not_need(given):
    headers = Asked(**given).headers
    assert headers.items() >= HEADERS.items()
    policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'" and policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]


def test_another_protocol_ends_in_an_error_not_in_the_application():
    guard = Guard(application, {TOKEN: "anna"}, frozenset({"127.0.0.1"}))
    with pytest.raises(RuntimeError, match="websocket"):
        asyncio.run(guard({"type": "websocket"}, None, None))
