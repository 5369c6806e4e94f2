"""Draws the pictures of the pages in docs/, from what `make demo` left in .demo (needs chromium).

report.png: the top of the report; report-phone.png: three places of it on a phone, side by side;
report-dark.png: its relations and queries, in the dark. review.png: the page of a review after some
decisions; review-batch.png: a batch, in the dark; review-phone.png: the same page on a phone.
"""

import base64
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

import assent
from assent.files.places import REVIEWING
from assent.reviewing.labels import Labels, head_of
from assent.reviewing.proposals import LABELS, key_of

DOCS = Path(__file__).resolve().parent
DEMO = DOCS.parent / ".demo"
REPORT = DEMO / "report.html"
WIDTH, HEIGHT = 1180, 1400
PHONE = {"width": 390, "height": 844}
ON_PHONE = ("#summary", ".facts li:nth-child(1)", "#relations-of")  # each at the top of a picture
DECISIONS = 180  # made before the pictures of a review


def opened(browser: Browser, size: dict[str, int], scheme: str = "light") -> Page:
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.goto(REPORT.as_uri())
    page.wait_for_selector(".plot svg")
    return page


def show(page: Page, place: str) -> None:
    """Scrolls so that this place stands below the line of links."""
    page.locator(place).first.evaluate(
        "it => scrollTo({top: scrollY + it.getBoundingClientRect().top"
        " - document.querySelector('nav').offsetHeight - 12, behavior: 'instant'})"
    )
    page.wait_for_timeout(300)


def phones(browser: Browser, name: str) -> None:
    """The same report at several places, as a phone shows it."""
    phone = opened(browser, PHONE)
    shots = []
    for place in ON_PHONE:
        show(phone, place)
        shots.append(base64.b64encode(phone.screenshot()).decode())
    frames = "".join(f'<img src="data:image/png;base64,{shot}">' for shot in shots)
    width = len(shots) * (PHONE["width"] + 24) + 24
    table = browser.new_page(viewport={"width": width, "height": PHONE["height"] + 48})
    table.set_content(
        "<style>body{margin:24px;display:flex;gap:24px;background:#e9ebee}"
        f"img{{border-radius:12px;box-shadow:0 2px 12px #0003}}</style>{frames}"
    )
    table.wait_for_timeout(300)
    table.screenshot(path=DOCS / name)


def report(browser: Browser) -> None:
    light = opened(browser, {"width": WIDTH, "height": 1000})
    light.screenshot(path=DOCS / "report.png")
    phones(browser, "report-phone.png")
    dark = opened(browser, {"width": WIDTH, "height": HEIGHT}, "dark")
    show(dark, "#relations")
    dark.screenshot(path=DOCS / "report-dark.png")


def review(browser: Browser) -> None:
    """Decides as the whole graph says, by keyboard, and looks at the page then."""
    world = assent.read("world")
    names = world.vocabulary
    true = {
        key_of(names.entities[head], names.relations[relation], names.entities[tail])
        for head, relation, tail in world.facts.tolist()
    }
    with served(DEMO / "run") as address:
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(address)
        for _ in range(DECISIONS):
            decide(page, true)
        while page.locator("#fact .evidence li").count() < 2:  # a fact with something to see
            decide(page, true)
        page.wait_for_timeout(4000)  # until the promise is computed
        page.screenshot(path=DOCS / "review.png")
        dark = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="dark")
        dark.goto(f"{address}&order=probable&least=0.9&evidence=with")
        dark.wait_for_selector("#fact .sentence")
        dark.click("#open-batch")
        dark.wait_for_timeout(2500)
        dark.screenshot(path=DOCS / "review-batch.png")
        phone = browser.new_page(viewport=PHONE, has_touch=True, is_mobile=True)
        phone.goto(f"{address}&evidence=with")
        phone.wait_for_selector("#fact .evidence li")
        phone.wait_for_timeout(2500)
        phone.screenshot(path=DOCS / "review-phone.png")


def decide(page: Page, true: set[str]) -> None:
    """One decision by key; waits until it is saved and another fact is there."""
    page.wait_for_selector("#fact[data-proposal] .sentence")
    key = page.locator("#fact").get_attribute("data-proposal")
    page.keyboard.press("a" if key in true else "r")
    page.wait_for_function(
        "key => document.getElementById('fact').dataset.proposal !== key "
        "&& !/^(Saving|$)/.test(document.getElementById('said').textContent)",
        arg=key,
    )


@contextmanager
def served(run: Path) -> Iterator[str]:
    """The address of a review of a copy of a run, without the labels of the original."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "demo" / "run"
        shutil.copytree(run, copy)
        labels = copy / REVIEWING / LABELS
        for path in (*labels.parent.glob(f"{LABELS}*"), head_of(labels)):
            path.unlink(missing_ok=True)
        if labels.parent.exists():
            Labels(labels).close()
        command = [sys.executable, "-u", "-m", "assent.cli", "review", str(copy), "--port", "0"]
        process = subprocess.Popen(
            [*command, "--reviewer", "anna"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout
            found = re.match(r"anna: (\S+)", process.stdout.readline())
            assert found, "the review did not start"
            yield found[1]
        finally:
            process.terminate()
            process.wait(30)


def main() -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for draw in (report, review):
            if draw.__name__ in (sys.argv[1:] or ("report", "review")):
                draw(browser)
        browser.close()


if __name__ == "__main__":
    main()
