"""`assent review` as a process: what it answers, and what it refuses, over real connections."""

import json
import socket
import stat
import time
from contextlib import ExitStack, suppress
from http.client import HTTPConnection

import pytest

from assent.reviewing.labels import Labels
from assent.reviewing.page.guard import MOST_BYTES
from assent.reviewing.page.serving import SECONDS_TO_ASK
from assent.reviewing.proposals import key_of
from served_reviews import HOSTILE, make_review, serving

FACT = ("head", "relation", "tail")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_review(tmp_path_factory.mktemp("served"), 400, hostile=True)


@pytest.fixture(scope="module")
def served(run):
    with serving(run) as started:
        yield started


def answer(served, path, body=None, **changes):
    status, text = served.ask(path, None if body is None else json.dumps(body), **changes)
    assert status == 200, text
    return json.loads(text)


def first(served, reviewer="anna", words=""):
    return answer(served, f"/api/next?count=1{words}", reviewer=reviewer)["cards"][0]


def test_the_page_and_its_files_are_there_for_a_reviewer_and_for_nobody_else(served):
    for path in ("/", "/review.js", "/review.css", "/house.css", "/icon.svg", "/api/next"):
        assert served.ask(path)[0] == 200
        assert served.ask(path, headers={"Cookie": None})[0] == 403
        assert served.ask(path, headers={"Cookie": f"assent_review_{served.port}=wrong"})[0] == 403
        assert served.ask(path, headers={"Host": "evil.example"})[0] == 421
        assert served.ask(path, headers={"Origin": "http://evil.example"})[0] == 403


def test_each_reviewer_has_a_token_of_their_own_and_only_the_owner_can_read_the_file(served, run):
    assert len(set(served.tokens.values())) == 2
    assert min(map(len, served.tokens.values())) >= 22  # 16 random bytes
    mode = (run / "review" / "tokens.json").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600
    for name in served.tokens:
        assert f"<bdi>{name}</bdi>" in served.ask("/", reviewer=name)[1]


def test_only_this_machine_can_ask(served):
    """Bound to one loopback address: another address of this very machine finds nobody."""
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", served.port))


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/"),
        ("DELETE", "/api/undo"),
        ("OPTIONS", "/api/decide"),
        ("POST", "/"),
        ("POST", "/api/next"),
        ("GET", "/api/decide"),
        ("GET", "/api/undo"),
        ("GET", "/api/batch"),
    ],
)
def test_a_wrong_method_is_refused(served, method, path):
    body = "{}" if method == "POST" else None
    assert served.ask(path, body, method=method)[0] == 405


@pytest.mark.parametrize(
    "path",
    [
        "/review/labels.sqlite",
        "/labels.sqlite",
        "/tokens.json",
        "/../settings.toml",
        "/..%2f..%2fetc/passwd",
        "/templates/page.html",
        "//etc/passwd",
        "/api/",
        "/api/../review.js",
    ],
)
def test_nothing_but_the_page_can_be_reached(served, path):
    assert served.ask(path)[0] == 404


def test_a_hundred_megabytes_are_refused_before_they_are_sent(served):
    with socket.create_connection((served.host, served.port), timeout=30) as wire:
        wire.sendall(
            (
                f"POST /api/decide HTTP/1.1\r\nHost: {served.host}:{served.port}\r\n"
                f"Cookie: assent_review_{served.port}={served.tokens['anna']}\r\n"
                f"Origin: http://{served.host}:{served.port}\r\n"
                "Content-Type: application/json\r\nContent-Length: 100000000\r\n\r\n"
            ).encode()
        )
        said = b""
        while part := wire.recv(4096):  # ends: the server closes the connection
            said += part
    assert said.startswith(b"HTTP/1.1 413 ")


def test_a_hundred_megabytes_in_pieces_are_refused_early(served):
    sent = 0
    with socket.create_connection((served.host, served.port), timeout=30) as wire:
        wire.sendall(
            (
                f"POST /api/decide HTTP/1.1\r\nHost: {served.host}:{served.port}\r\n"
                f"Cookie: assent_review_{served.port}={served.tokens['anna']}\r\n"
                f"Origin: http://{served.host}:{served.port}\r\n"
                "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            ).encode()
        )
        said = b""
        try:
            for _ in range(6_000):
                wire.sendall(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
                sent += 0x4000
                wire.settimeout(0.001)
                try:
                    said += wire.recv(4096)
                    break
                except TimeoutError:
                    wire.settimeout(30)
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert sent < 20_000_000, "the server went on reading"
    assert said == b"" or said.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        '"text"',
        "{}",
        '{"proposal": {}}',
        '{"proposal": "0123456789abcdef", "verdict": "right", "order": "drawn"}',
        '{"proposal": "../../etc", "verdict": "right", "order": "drawn"}',
        "[" * 50_000,
        '{"a":' * 10_000,
    ],
)
def test_what_makes_no_sense_is_told_so_and_changes_nothing(served, run, body):
    before = rows(run)
    status, text = served.ask("/api/decide", body)
    assert status == 400 and json.loads(text)["error"]
    assert rows(run) == before


@pytest.mark.parametrize(
    "change",
    [{"verdict": "maybe"}, {"verdict": ""}, {"order": "mine"}, {"note": "x" * 5_000}],
)
def test_a_decision_must_be_one_that_there_is(served, run, change):
    before, card = rows(run), first(served)
    body = {"proposal": card["proposal"], "verdict": "right", "order": "drawn", **change}
    assert served.ask("/api/decide", json.dumps(body))[0] == 400
    assert rows(run) == before


@pytest.mark.parametrize(
    "words",
    ["least=x", "least=nan", "most=2", "count=-1", "count=x", "order=mine", "relation=nowhere",
     "evidence=maybe", "least=inf"],
)  # fmt: skip
def test_a_filter_must_be_one_that_there_is(served, words):
    status, text = served.ask(f"/api/next?{words}")
    assert status == 400 and json.loads(text)["error"]


def test_at_most_ten_facts_are_handed_out_at_once(served):
    assert len(answer(served, "/api/next?count=1000000")["cards"]) == 10


def test_a_decision_is_on_the_disk_before_it_is_answered(served, run):
    card = first(served, words="&order=probable")
    body = {"proposal": card["proposal"], "verdict": "wrong", "order": "probable", "note": "a note"}
    told = answer(served, "/api/decide", body)["recent"][0]
    kept = [row for row in rows(run) if row.proposal == card["proposal"]]
    assert [(row.verdict, row.reviewer, row.note) for row in kept] == [("wrong", "anna", "a note")]
    assert (told["verdict"], told["note"], told["words"]) == ("wrong", "a note", card["words"])


def test_a_decision_that_is_sent_twice_is_written_once_and_undone_at_once(served, run):
    card, before = first(served), len(rows(run))
    body = {"proposal": card["proposal"], "verdict": "right", "order": "drawn"}
    for _ in range(2):
        answer(served, "/api/decide", body)
    assert len(rows(run)) == before + 1
    undone = answer(served, "/api/undo", {})
    assert undone["card"]["proposal"] == card["proposal"]
    assert all(label["proposal"] != card["proposal"] for label in undone["recent"])
    answer(served, "/api/decide", body)
    assert len(rows(run)) == before + 3


def test_nobody_changes_or_undoes_the_decision_of_another(served, run):
    card = first(served)
    body = {"proposal": card["proposal"], "verdict": "right", "order": "drawn"}
    label = answer(served, "/api/decide", body)["recent"][0]["id"]
    changed = json.dumps({"label": label, "verdict": "wrong"})
    assert served.ask("/api/change", changed, reviewer="ben")[0] == 400
    before = len(rows(run))
    assert answer(served, "/api/undo", {}, reviewer="ben")["card"] is None
    assert len(rows(run)) == before
    assert answer(served, "/api/change", json.loads(changed))["recent"][0]["verdict"] == "wrong"


def test_who_says_something_else_is_shown_once_both_have_decided(served):
    card = first(served)
    body = {"proposal": card["proposal"], "verdict": "right", "order": "drawn"}
    assert answer(served, "/api/decide", body)["recent"][0]["others"] == ""
    body["verdict"] = "wrong"
    assert answer(served, "/api/decide", body, reviewer="ben")["recent"][0]["others"] == (
        "anna: Accepted"
    )
    assert answer(served, "/api/recent")["recent"][0]["others"] == "ben: Rejected"


def test_a_batch_decides_about_what_was_previewed_or_about_nothing(served, run):
    words = {"relation": "r:2", "least": "0.3"}
    seen = answer(served, "/api/preview?relation=r:2&least=0.3")
    assert seen["count"] > 0 and seen["examples"]
    other = json.dumps({**words, "verdict": "right", "expected": seen["count"] + 1})
    before = len(rows(run))
    assert served.ask("/api/batch", other)[0] == 400 and len(rows(run)) == before
    answer(served, "/api/batch", {**words, "verdict": "right", "expected": seen["count"]})
    new = rows(run)[before:]
    assert len(new) == seen["count"] and {row.chosen for row in new} == {"batch"}
    assert answer(served, "/api/preview?relation=r:2&least=0.3")["count"] == 0


def test_a_name_of_any_kind_goes_out_as_text_and_never_too_long(served):
    seen, had = set(), []
    for _ in range(20):
        had = had[-200:]
        cards = answer(served, f"/api/next?count=10&excluding={','.join(had)}")["cards"]
        had += [card["proposal"] for card in cards]
        for card in cards:
            seen |= {card[end]["label"] for end in ("head", "tail")}
            assert all(len(card[end]["label"]) < 400 for end in ("head", "tail"))
            assert not any(c in card["words"] for c in "\u202e\u2066\u0007\u2028\u2029")
            assert all(not card[end]["iri"].startswith("javascript") for end in ("head", "tail"))
    assert len(seen & set(HOSTILE)) >= 3 and any("⟨U+202E⟩" in name for name in seen)


def test_planted_facts_look_like_the_others(served):
    kinds = {frozenset(card) for card in answer(served, "/api/next?count=10")["cards"]}
    assert len(kinds) == 1
    text = json.dumps(answer(served, "/api/next?count=10"))
    assert "planted" not in text and "planted" not in served.ask("/api/recent")[1]


def test_a_planted_fact_that_is_undone_comes_again_like_any_other(served, run):
    key = next(iter(planted_keys(run)))
    body = {"proposal": key, "verdict": "right", "order": "teaches"}
    answer(served, "/api/decide", body)
    card = answer(served, "/api/undo", {"order": "teaches"})["card"]
    assert (card["proposal"], card["order"]) == (key, "teaches")


def test_only_what_was_asked_for_comes_planted_or_not(served, run):
    had: list[str] = []
    for _ in range(30):
        words = f"count=2&relation=r:0&most=0.9&excluding={','.join(had)}"
        for card in answer(served, f"/api/next?{words}")["cards"]:
            assert card["relation"]["label"] == "is near"
            assert card["probability"] <= 0.9
            had.append(card["proposal"])
    assert len(had) == 60 and planted_keys(run) & set(had)


def test_a_slow_client_does_not_keep_others_waiting(served):
    with socket.create_connection((served.host, served.port)) as slow:
        slow.sendall(b"POST /api/decide HTTP/1.1\r\nHost: 127")
        started = time.monotonic()
        assert served.ask("/api/recent")[0] == 200
        assert time.monotonic() - started < 10


BEGUN = b"GET /api/recent HTTP/1.1\r\nHost: 127.0.0.1"


def begun_body(served):
    """A request whose body does not end, of a reviewer."""
    return (
        f"POST /api/decide HTTP/1.1\r\nHost: {served.host}:{served.port}\r\n"
        f"Cookie: assent_review_{served.port}={served.tokens['anna']}\r\n"
        f"Origin: http://{served.host}:{served.port}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFF\r\n"
    ).encode()


def test_connections_that_ask_for_nothing_keep_nobody_out(served):
    """Nothing, half a head, a head and half a body; and one that sends a byte a second."""
    with ExitStack() as held:
        sent = (b"", BEGUN, begun_body(served))
        wires = [
            held.enter_context(socket.create_connection((served.host, served.port)))
            for _ in range(180)
        ]
        for number, wire in enumerate(wires):
            wire.sendall(sent[number % 3])
        started = time.monotonic()
        while served.ask("/api/recent")[0] != 200:
            assert time.monotonic() - started < 3 * SECONDS_TO_ASK
            for wire in wires[1::3]:
                with suppress(OSError):
                    wire.sendall(b"0")
            time.sleep(1)
        assert time.monotonic() - started > 1, "there were too few to keep anyone out"


def test_a_connection_that_is_used_again_has_its_time_again(served):
    """A second request on it, which begins when most of the time since the first has gone."""
    connection = HTTPConnection(served.host, served.port, timeout=30)
    head = {"Cookie": f"assent_review_{served.port}={served.tokens['anna']}"}
    for _ in range(3):
        connection.request("GET", "/api/recent", headers=head)
        answered = connection.getresponse()
        assert answered.status == 200 and answered.read()
        time.sleep(0.6 * SECONDS_TO_ASK)
    connection.close()


def test_a_client_that_goes_away_is_no_error(tmp_path):
    with serving(make_review(tmp_path, 50)) as started:
        for _ in range(3):
            with socket.create_connection((started.host, started.port)) as wire:
                wire.sendall(begun_body(started))
                time.sleep(0.2)
        assert started.ask("/api/recent")[0] == 200
    assert not [line for line in started.printed if "ERROR" in line or "Traceback" in line]
    assert started.printed[-1].startswith("0 decisions are kept in ")


def test_bodies_up_to_the_bound_are_read(served):
    body = json.dumps({"padding": "x" * (MOST_BYTES - 100)})
    assert served.ask("/api/decide", body)[0] == 400  # read, and no decision
    assert served.ask("/api/decide", body + " " * 200)[0] == 413


def test_ctrl_c_ends_it_and_says_where_the_decisions_are(tmp_path):
    run = make_review(tmp_path, 50)
    with serving(run) as started:
        card = first(started)
        body = {"proposal": card["proposal"], "verdict": "right", "order": "drawn"}
        answer(started, "/api/decide", body)
    assert started.process.returncode == 0
    assert started.printed[-1].startswith("1 decisions are kept in ")


def test_a_port_that_is_taken_is_said_so(tmp_path, say):
    run = make_review(tmp_path, 50)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, complaint = say("review", run, "--port", taken.getsockname()[1])
    assert code == 2 and "choose another" in complaint


def rows(run):
    with Labels(run / "review" / "labels.sqlite") as labels:
        return labels.rows()


def planted_keys(run):
    lines = (run / "review" / "planted.jsonl").read_text(encoding="utf-8").strip().split("\n")
    return {key_of(*(json.loads(line)[name] for name in FACT)) for line in lines}
