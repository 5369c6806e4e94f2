"""The application of a review: what each address of the page answers.

Every call of the review runs in one thread, one after the other: labels are written in the order in
which they came, and a slow bound never stops the server from answering the next request.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assent.core.legible import legible, legibly
from assent.core.version import __version__
from assent.errors import AssentError, ConfigError
from assent.reviewing.choosing import ORDERS, Filter
from assent.reviewing.labels import LONGEST_NOTE
from assent.reviewing.page import shown
from assent.reviewing.session import Review

Words = Mapping[str, str]  # the query of an address, or the body of a request

MOST_CARDS = 10  # that are handed out at once
MOST_RECENT = 20
STATIC = {
    "review.js": "text/javascript",
    "review.css": "text/css",
    "icon.svg": "image/svg+xml",
}


def application(review: Review, title: str, house_style: str) -> Starlette:
    """The application; `house_style` is the style sheet that all pages share."""
    return Starlette(routes=Pages(review, title, house_style).routes())


class Pages:
    """Answers to requests; the guard has put the reviewer's name into each."""

    def __init__(self, review: Review, title: str, house_style: str) -> None:
        self.review, self.title = review, title
        self.reading = shown.Reading(review)
        self.thread = ThreadPoolExecutor(1, "review")
        self.page = _environment().get_template("page.html")
        self.texts = {name: (_own(name), kind) for name, kind in STATIC.items()}
        self.texts["house.css"] = (house_style, "text/css")

    def routes(self) -> list[Route]:
        """What is answered at which address."""
        given = [Route(f"/{name}", self.text) for name in self.texts]
        asked = [Route(f"/api/{name}", self.answer(work)) for name, work in ASKED.items()]
        sent = [
            Route(f"/api/{name}", self.answer(work), methods=["POST"])
            for name, work in SENT.items()
        ]
        return [Route("/", self.shell), *given, *asked, *sent]

    async def shell(self, request: Request) -> Response:
        """The page itself; its script asks for the facts."""
        text = self.page.render(
            title=self.title,
            reviewer=request.scope["reviewer"],
            version=__version__,
            actions=[action._asdict() for action in shown.ACTIONS],
            orders=shown.ORDERS,
            longest_note=LONGEST_NOTE,
        )
        return Response(text, media_type="text/html")

    async def text(self, request: Request) -> Response:
        """A file of the page."""
        text, kind = self.texts[request.url.path[1:]]
        return Response(text, media_type=kind)

    def answer(self, work: Callable[["Pages", str, Words], Any]) -> Callable[[Request], Any]:
        """What `work` returns for the reviewer and the words of a request, as JSON."""

        async def answered(request: Request) -> Response:
            try:
                words = await _words(request)
                reviewer = request.scope["reviewer"]
                loop = asyncio.get_running_loop()
                found = await loop.run_in_executor(self.thread, work, self, reviewer, words)
            except AssentError as error:
                return JSONResponse({"error": legible(str(error))}, 400)
            return JSONResponse(found)

        return answered

    # What is asked: reads only.

    def next(self, reviewer: str, words: Words) -> Any:
        """The next facts to decide about, without those that the page has already."""
        excluding = {key for key in words.get("excluding", "").split(",") if key}
        count = min(_whole(words.get("count", "1")), MOST_CARDS)
        wanted, order = _filter(words), _order(words)
        cards: list[Any] = []
        while len(cards) < count:
            card = self.review.next(reviewer, order=order, wanted=wanted, excluding=excluding)
            if card is None:
                break
            excluding.add(card.key)
            cards.append(self.reading.card(card))
        return {"cards": cards}

    def card(self, reviewer: str, words: Words) -> Any:
        """One fact, whether it was decided about or not."""
        return {"card": self.reading.card(self.review.card(words.get("proposal", "")))}

    def recent(self, reviewer: str, words: Words) -> Any:
        """The last decisions of this reviewer, the newest first."""
        return {"recent": self.reading.recent(self.review.recent(reviewer, MOST_RECENT))}

    def relations(self, reviewer: str, words: Words) -> Any:
        """The relations that have proposals, the one with the most first."""
        return {"relations": shown.relations(self.review)}

    def progress(self, reviewer: str, words: Words) -> Any:
        """What was decided so far, by whom, and what it bought."""
        return self.reading.progress(reviewer)

    def preview(self, reviewer: str, words: Words) -> Any:
        """What a batch would decide about."""
        return shown.preview(self.review.preview(_filter(words)))

    # What is sent: a row on the disk before the answer leaves.

    def decide(self, reviewer: str, words: Words) -> Any:
        """A decision about one fact.

        The same one sent again is not written again: the answer to the first may have been lost.
        """
        key, verdict, note = (words.get(name, "") for name in ("proposal", "verdict", "note"))
        last = [(one.proposal, one.verdict, one.note) for one in self.review.recent(reviewer, 1)]
        if last != [(key, verdict, note)]:
            self.review.decide(key, verdict, reviewer, note, order=words.get("order", ""))
        return self.recent(reviewer, words)

    def undo(self, reviewer: str, words: Words) -> Any:
        """The last decision of this reviewer is taken back, and its fact comes again."""
        undone = self.review.undo(reviewer)
        card = None
        if undone:
            key, chosen = undone[0].proposal, undone[0].chosen
            # A planted fact comes again under the order that the page shows: as any other would.
            order = _order(words) if chosen == "planted" else chosen
            order = order if order in ORDERS else "probable"
            card = self.reading.card(self.review.card(key, order))
        return {"card": card, "count": len(undone), **self.recent(reviewer, words)}

    def change(self, reviewer: str, words: Words) -> Any:
        """Another verdict for an earlier decision."""
        self.review.change(_whole(words.get("label", "")), words.get("verdict", ""), reviewer)
        return self.recent(reviewer, words)

    def batch(self, reviewer: str, words: Words) -> Any:
        """One verdict about all facts that fit, if they are as many as the preview said."""
        wanted, expected = _filter(words), _whole(words.get("expected", ""))
        found = self.review.preview(wanted).size
        if found != expected:
            raise ConfigError(f"{found:,} facts fit by now, not {expected:,}; look at them again")
        done = self.review.decide_batch(wanted, words.get("verdict", ""), reviewer)
        return {"words": f"{done:,} facts decided about.", **self.recent(reviewer, words)}


async def _words(request: Request) -> Words:
    """The names and values that a request brings, all as text."""
    if request.method != "POST":
        return dict(request.query_params)
    try:
        sent = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise ConfigError("expected JSON") from error
    if not isinstance(sent, dict) or not all(isinstance(v, str | int) for v in sent.values()):
        raise ConfigError("expected a JSON object of texts and whole numbers")
    return {name: str(value) for name, value in sent.items()}


def _filter(words: Words) -> Filter:
    evidence = {"": None, "with": True, "without": False}
    if (wanted := words.get("evidence", "")) not in evidence:
        raise ConfigError(f"evidence {wanted!r}: expected with, without or nothing")
    return Filter(
        relation=words.get("relation") or None,
        least=_share(words.get("least", "0")),
        most=_share(words.get("most", "1")),
        evidence=evidence[wanted],
    )


def _order(words: Words) -> str:
    return words.get("order", ORDERS[0])


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise ConfigError(f"{text[:40]!r}: expected a whole number")
    return int(text)


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ConfigError(f"{text[:40]!r}: expected a number between 0 and 1")
    return value


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("assent.reviewing.page"),
        autoescape=True,
        finalize=legibly,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _own(name: str) -> str:
    return (files("assent.reviewing.page") / "templates" / name).read_text(encoding="utf-8")


# What the page may ask for, and what it may send.
ASKED = {
    "next": Pages.next,
    "card": Pages.card,
    "recent": Pages.recent,
    "relations": Pages.relations,
    "progress": Pages.progress,
    "preview": Pages.preview,
}
SENT = {
    "decide": Pages.decide,
    "undo": Pages.undo,
    "change": Pages.change,
    "batch": Pages.batch,
}
