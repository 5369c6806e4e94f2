"""Draws the pictures of the report in docs/, from what `make demo` left in .demo (needs chromium).

report.png: its top; report-phone.png: three places of it on a phone, side by side;
report-dark.png: relations and queries, in the dark.
"""

import base64
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).resolve().parent
REPORT = DOCS.parent / ".demo" / "report.html"
WIDTH, HEIGHT = 1180, 1400
PHONE = {"width": 390, "height": 844}
ON_PHONE = ("#summary", ".facts li:nth-child(1)", "#relations-of")  # each at the top of a picture


def opened(browser: Browser, report: Path, size: dict[str, int], scheme: str = "light") -> Page:
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.goto(report.as_uri())
    page.wait_for_selector(".plot svg")
    return page


def show(page: Page, place: str) -> None:
    """Scrolls so that this place stands below the line of links."""
    page.locator(place).first.evaluate(
        "it => scrollTo({top: scrollY + it.getBoundingClientRect().top"
        " - document.querySelector('nav').offsetHeight - 12, behavior: 'instant'})"
    )
    page.wait_for_timeout(300)


def phones(browser: Browser, report: Path, name: str) -> None:
    """The same report at several places, as a phone shows it."""
    phone = opened(browser, report, PHONE)
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


def main(report: Path = REPORT) -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        light = opened(browser, report, {"width": WIDTH, "height": 1000})
        light.screenshot(path=DOCS / "report.png")
        phones(browser, report, "report-phone.png")
        dark = opened(browser, report, {"width": WIDTH, "height": HEIGHT}, "dark")
        show(dark, "#relations")
        dark.screenshot(path=DOCS / "report-dark.png")
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
