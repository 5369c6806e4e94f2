"""The report in a real browser: it draws, sorts, asks nothing of the network, and fits a phone."""

import shutil
from xml.etree import ElementTree

import pytest

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: apt-get install chromium to look at the report in it"
)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def opened(browser, page):
    """Opens the report; all that goes wrong, and all that is asked for, is noted."""

    def open_at(width=1280, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        tab = context.new_page()
        tab.wrong, tab.asked = [], []
        tab.on("console", lambda message: tab.wrong.append(message.text))
        tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
        tab.on("request", lambda request: tab.asked.append(request.url))
        tab.goto(page.as_uri())
        tab.wait_for_function(
            "document.querySelectorAll('.plot svg').length === "
            "document.querySelectorAll('.plot').length"
        )
        return tab

    yield open_at
    for context in browser.contexts:
        context.close()


def column(tab, table, place):
    """The numbers of a column, top down; null where there is a dash."""
    return tab.evaluate(
        f"[...document.querySelector('{table}').tBodies[0].rows]"
        f".map(row => row.cells[{place}].dataset.value ?? null)"
        ".map(value => value === null ? null : Number(value))"
    )


def test_it_loads_with_no_outside_request_and_no_complaint(opened, page):
    tab = opened()
    assert tab.asked == [page.as_uri()] and tab.wrong == []
    assert tab.evaluate("window.struck") is None


def test_every_plot_has_marks_in_it(opened):
    tab = opened()
    marks = tab.evaluate(
        "[...document.querySelectorAll('.plot')].map(plot => [plot.id, "
        "plot.querySelectorAll('.role-mark path, .role-mark line, .role-mark rect').length])"
    )
    assert len(marks) >= 9 and all(count > 0 for _, count in marks), marks


def test_a_click_on_a_heading_sorts_and_another_turns_it_round(opened):
    tab = opened()
    heading = tab.locator("#relations th button", has_text="queries")
    heading.click()
    falling = column(tab, "#relations", 2)
    assert falling == sorted(falling, reverse=True) and len(set(falling)) > 1
    assert tab.locator("#relations th[aria-sort=descending]").count() == 1
    heading.click()
    assert column(tab, "#relations", 2) == sorted(falling)


def test_what_has_no_number_stays_below_whatever_the_order(opened):
    tab = opened()
    heading = tab.locator("#facts-accepted th button", has_text="expected precision")
    for _ in range(2):
        heading.click()
        there = [value is not None for value in column(tab, "#facts-accepted", 2)]
        assert there == sorted(there, reverse=True) and not all(there)


def test_typing_a_part_of_a_name_leaves_only_its_relations(opened):
    tab = opened()
    tab.locator("input[type=search]").fill("R1 & CO")
    shown = tab.locator("#relations tbody tr:visible td:first-child").all_inner_texts()
    assert shown and set(shown) == {"r1 & co"}


def test_dark_colours_where_they_are_preferred(opened):
    def lightness(tab, selector, what):
        colour = tab.evaluate(
            f"getComputedStyle(document.querySelector('{selector}')).{what}.match(/\\d+/g)"
        )
        return sum(map(int, colour[:3]))

    light, dark = opened(), opened(scheme="dark")
    assert lightness(light, "body", "backgroundColor") > 700
    assert lightness(dark, "body", "backgroundColor") < 120
    label = ".role-axis-title text"
    assert lightness(light, label, "fill") < 300 and lightness(dark, label, "fill") > 500
    background = "getComputedStyle(document.querySelector('.plot svg')).backgroundColor"
    assert dark.evaluate(background) == "rgba(0, 0, 0, 0)"


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_window_never_scrolls_sideways(opened, width):
    tab = opened(width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("Math.max(...[...document.querySelectorAll('.plot svg')]"
                        ".map(svg => svg.getBoundingClientRect().right))") <= width  # fmt: skip


def test_a_figure_can_be_saved_as_svg(opened, tmp_path):
    tab = opened()
    with tab.expect_download() as waiting:
        tab.locator("#figure-precision-recall + figcaption .save").click()
    assert waiting.value.suggested_filename == "precision-recall.svg"
    waiting.value.save_as(tmp_path / "saved.svg")
    assert ElementTree.parse(tmp_path / "saved.svg").getroot().tag.endswith("svg")


def test_a_dot_tells_its_numbers(opened):
    tab = opened()
    dot = tab.locator("#figure-precision-recall .mark-symbol path").first
    dot.hover(force=True)
    tab.wait_for_selector("#vg-tooltip-element.visible")
    assert "precision" in tab.locator("#vg-tooltip-element").inner_text()


def test_on_paper_all_rows_are_there(opened):
    tab = opened()
    tab.emulate_media(media="print")
    height = "getComputedStyle(document.querySelector('.tall')).maxHeight"
    assert tab.evaluate(height) == "none"
    assert tab.locator("nav").is_hidden()
    assert len(tab.pdf(format="A4")) > 10_000
