"""Draws the pictures of the report in docs/, from what `make demo` left in .demo (needs chromium).

report.png: its top; report-dark.png: relations and queries; report-facts.png: new facts.
"""

import shutil
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).resolve().parent
REPORT = DOCS.parent / ".demo" / "report.html"
WIDTH, HEIGHT = 1180, 1400


def shot(page: Page, section: str, name: str, height: int = HEIGHT) -> None:
    """From the top of a section downwards."""
    page.locator(f"#{section}").evaluate("it => window.scrollTo(0, it.offsetTop - 60)")
    page.wait_for_timeout(500)
    page.set_viewport_size({"width": WIDTH, "height": height})
    page.screenshot(path=DOCS / name)


def main() -> None:
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
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
        browser.close()


if __name__ == "__main__":
    main()
