"""The documentation as a site: it builds without a warning and asks nothing of the network."""

import os
import re
import shutil
import subprocess
import sys
import threading
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = shutil.which("chromium")
LOADS = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The built pages."""
    folder = tmp_path_factory.mktemp("site")
    done = built(ROOT, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def built(project: Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Builds the site as `make docs` does. (With --quiet, mkdocs would let warnings pass.)"""
    pytest.importorskip("mkdocs", reason="no mkdocs: pip install '.[docs]' to build the site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, timeout=300
    )


def test_make_docs_builds_it_in_the_same_way():
    assert "mkdocs build --strict\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("broken", ["[a page](nowhere.md)", "[a place](glossary.md#nowhere)"])
def test_a_broken_link_ends_the_build(broken, tmp_path):
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    nav = "nav: [index.md, glossary.md]\n"
    (tmp_path / "mkdocs.yml").write_text(
        config[: config.index("\nnav:\n") + 1] + nav, encoding="utf-8"
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "glossary.md").write_text("# Words\n", encoding="utf-8")
    for text, code in (("[words](glossary.md#words)", 0), (broken, 1)):
        (tmp_path / "docs" / "index.md").write_text(f"# Start\n\n{text}\n", encoding="utf-8")
        done = built(tmp_path, tmp_path / "site")
        assert done.returncode == code, done.stdout + done.stderr


class Quiet(SimpleHTTPRequestHandler):
    """A server of files that prints nothing."""

    def log_message(self, *_):
        pass


class Loads(HTMLParser):
    """What a page loads when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for key, value in attrs if LOADS.get(tag) == key and value]


def test_every_page_of_the_documentation_is_in_the_site(site):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").is_file(), page


def test_no_page_and_no_style_sheet_names_another_host_to_load_from(site):
    for page in site.rglob("*.html"):
        parser = Loads()
        parser.feed(page.read_text(encoding="utf-8"))
        outside = [url for url in parser.found if re.match(r"(https?:)?//", url)]
        assert not outside, f"{page.name}: {outside}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(url\(['\"]?|@import ['\"]?)(https?:)?//", text), sheet


def test_the_reference_shows_what_the_docstrings_say(site):
    import assent

    page = (site / "api.html").read_text(encoding="utf-8")
    for name in ("read", "build", "train", "tune", "evaluate", "complete"):
        first = (getattr(assent, name).__doc__ or "").partition("\n")[0]
        assert re.split(r"[`'\"]", first)[0] in page, name


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")
def test_a_browser_that_reads_and_searches_asks_no_other_host(site):
    from playwright.sync_api import sync_playwright

    handler = partial(Quiet, directory=site)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, sync_playwright() as driver:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://127.0.0.1:{server.server_port}/"
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tab = browser.new_page()
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        for page in ("index.html", "api.html", "report.html", "glossary.html"):
            tab.goto(home + page)
        tab.keyboard.press("/")
        tab.keyboard.type("threshold")
        tab.wait_for_selector(".md-search-result__item", timeout=30_000)
        browser.close()
        server.shutdown()
    assert len(asked) > 10
    assert not [url for url in asked if not url.startswith((home, "data:", "blob:"))]
