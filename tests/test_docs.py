"""What the documents say is there is there."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from tree import described  # noqa: E402


def test_the_architecture_page_has_the_line_of_every_source_file():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert page.endswith(described()), "run `python tools/tree.py`"


def test_links_between_documents_lead_somewhere():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_tests_named_in_the_method_page_are_there():
    page = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(tests/[\w/]+\.py)`", page):
        assert (ROOT / name).is_file(), name


def test_readme_opens_with_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme and "make test" in readme
