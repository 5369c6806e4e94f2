"""Draws the pictures of the pages in docs/, from what `make demo` left in .demo (needs chromium).

report.png: the top of the report; report-dark.png: its relations and queries; report-facts.png: its
new facts. review.png: the page of a review after some decisions; review-batch.png: a batch, in the
dark; review-phone.png: the same page on a phone.
"""

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
from assent.reviewing.proposals import FOLDER, key_of

DOCS = Path(__file__).resolve().parent
DEMO = DOCS.parent / ".demo"
REPORT = DEMO / "report.html"
WIDTH, HEIGHT = 1180, 1400
DECISIONS = 150  # made before the pictures of a review


def shot(page: Page, section: str, name: str, height: int = HEIGHT) -> None:
    """From the top of a section downwards."""
    page.locator(f"#{section}").evaluate("it => window.scrollTo(0, it.offsetTop - 60)")
    page.wait_for_timeout(500)
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.screenshot(path=DOCS / name)


def report(browser: Browser) -> None:
    size = {"width": WIDTH, "height": HEIGHT}
    light = browser.new_page(viewport=size)
    light.goto(REPORT.as_uri())
    light.wait_for_selector(".plot svg")
    shot(light, "summary", "report.png", 1000)
    shot(light, "facts", "report-facts.png", 1100)
    dark = browser.new_page(viewport=size, color_scheme="dark")
    dark.goto(REPORT.as_uri())
    dark.wait_for_selector(".plot svg")
    shot(dark, "relations", "report-dark.png")


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
        size = {"width": 390, "height": 844}
        phone = browser.new_page(viewport=size, has_touch=True, is_mobile=True)
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
        for path in (copy / FOLDER).glob("labels.sqlite*"):
            path.unlink()
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
