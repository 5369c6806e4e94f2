"""The page of a review in a real browser: by keyboard, by thumb, and when the server dies."""

import re
import shutil
import time

import pytest

from assent.reviewing.labels import UNDO, Labels
from served_reviews import Served, make_review, serving

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
WAIT = 30_000  # milliseconds, on a machine that others use too

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium: apt-get install chromium to look at the page in it"
)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """10,000 proposals, some of them with names that mean harm."""
    return make_review(tmp_path_factory.mktemp("browsed"), 10_000, hostile=True)


@pytest.fixture(scope="module")
def served(run):
    with serving(run) as started:
        yield started


@pytest.fixture
def opened(browser, served):
    """Opens the page for a reviewer; all that goes wrong, and all that is asked for, is noted."""
    tabs = []

    def open_as(name="anna", width=1280, height=900, scheme="light", words="", **more):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, **more
        )
        tab = context.new_page()
        tab.set_default_timeout(WAIT)
        tab.wrong, tab.asked = [], []
        tab.on("console", lambda message: tab.wrong.append(message.text))
        tab.on("pageerror", lambda error: tab.wrong.append(str(error)))
        tab.on("request", lambda request: tab.asked.append(request.url))
        tab.goto(served.addresses[name] + words)
        tab.wait_for_selector("#fact[data-proposal] .sentence")
        tabs.append(tab)
        return tab

    yield open_as
    for context in browser.contexts:
        context.close()
    for tab in tabs:
        assert tab.wrong == [] or getattr(tab, "may_complain", False), tab.wrong


def shown(tab):
    """The key of the fact on the screen."""
    return tab.locator("#fact").get_attribute("data-proposal")


def press(tab, key):
    """Decides by key, and waits until it is saved and another fact is there; returns its key."""
    before = shown(tab)
    tab.keyboard.press(key)
    saved(tab, before)
    return before


def saved(tab, before):
    tab.wait_for_function(
        "before => document.getElementById('fact').dataset.proposal !== before "
        "&& !/^(Saving|$)/.test(document.getElementById('said').textContent)",
        arg=before,
    )


def rows(run):
    with Labels(run / "review" / "labels.sqlite") as labels:
        return labels.rows()


def test_sixty_decisions_by_keyboard_with_their_evidence(opened, run):
    tab = opened(words="&evidence=with&order=probable")
    keys = {"a": "right", "r": "wrong", "d": "unknown", "s": "skip"}
    before, expected = len(rows(run)), []
    started = time.monotonic()
    for number in range(60):
        assert tab.locator("#fact .evidence li").first.is_visible()
        assert tab.locator("#fact .about li").first.is_visible()
        key = "aardas"[number % 6]
        expected.append((press(tab, key), keys[key], "anna"))
    minutes = (time.monotonic() - started) / 60
    assert 60 / minutes >= 20, f"{60 / minutes:.0f} decisions a minute"
    kept = [(row.proposal, row.verdict, row.reviewer) for row in rows(run)[before:]]
    assert kept == expected and len({proposal for proposal, _, _ in kept}) == 60


def test_keys_pressed_faster_than_the_disk_writes_are_all_kept_in_order(opened, run):
    tab = opened(words="&order=probable&relation=r%3A1")
    before = len(rows(run))
    for key in "arrda":
        tab.keyboard.press(key)
    tab.wait_for_function("() => document.querySelectorAll('#recent li').length >= 5")
    deadline = time.monotonic() + WAIT / 1000
    while len(rows(run)) < before + 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    verdicts = [row.verdict for row in rows(run)[before:]]
    assert verdicts == ["right", "wrong", "wrong", "unknown", "right"]


def test_the_token_leaves_the_address_and_the_cookie_stays(opened, served):
    tab = opened()
    assert "token" not in tab.url
    cookie = tab.context.cookies()[0]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert tab.evaluate("document.cookie") == ""
    tab.reload()
    tab.wait_for_selector("#fact[data-proposal] .sentence")
    assert all(url.startswith(f"http://{served.host}:{served.port}/") for url in tab.asked)


def test_undo_brings_the_fact_back_and_is_a_row_of_its_own(opened, run):
    tab = opened()
    fact = press(tab, "a")
    before = rows(run)
    tab.keyboard.press("u")
    tab.wait_for_function("it => document.getElementById('fact').dataset.proposal === it", arg=fact)
    after = rows(run)
    assert after[: len(before)] == before
    assert [(row.verdict, row.earlier) for row in after[len(before) :]] == [(UNDO, before[-1].id)]


def test_the_last_decisions_can_be_changed(opened, run):
    tab = opened()
    fact = press(tab, "r")
    tab.locator("#recent select").first.select_option("right")
    tab.wait_for_function("() => document.getElementById('said').textContent.startsWith('Changed')")
    kept = [(row.verdict, row.proposal) for row in rows(run)[-2:]]
    assert kept == [("wrong", fact), ("right", fact)]
    assert tab.locator("#recent select").first.input_value() == "right"


def test_a_note_goes_with_its_decision_and_typing_it_decides_nothing(opened, run):
    tab = opened()
    before, fact = len(rows(run)), shown(tab)
    tab.keyboard.press("n")
    tab.keyboard.type("a bad and sad source")
    tab.keyboard.press("Enter")
    assert shown(tab) == fact and len(rows(run)) == before
    press(tab, "d")
    assert [(row.verdict, row.note) for row in rows(run)[before:]] == [
        ("unknown", "a bad and sad source")
    ]
    press(tab, "a")
    assert rows(run)[-1].note == ""


def test_only_facts_that_fit_come_and_a_batch_is_shown_before_it_is_done(opened, run):
    tab = opened("ben")
    tab.locator("[name=relation]").select_option("r:2")
    tab.locator("[name=order]").select_option("probable")
    tab.wait_for_function("() => document.querySelector('.relation')?.textContent === 'is like'")
    # Labels recalibrate probabilities: the range is around what is there now.
    highest = int(re.search(r"\d+", tab.locator(".probability b").inner_text())[0])
    tab.locator("[name=least]").fill(f"{max(highest - 9, 0) / 100}")
    tab.locator("[name=most]").fill(f"{min(highest - 1, 100) / 100}")
    tab.locator("[name=most]").press("Tab")
    tab.wait_for_function(
        "([most]) => parseInt(document.querySelector('.probability b')?.textContent) <= most",
        arg=[highest - 1],
    )
    tab.locator("#open-batch").click()
    words = tab.locator("#batch-words")
    words.wait_for()
    count = int(re.match(r"[\d,]+", words.inner_text())[0].replace(",", ""))
    assert count > 10 and tab.locator("#batch-examples li").count() == 10
    before = len(rows(run))
    tab.locator("#batch-verdict").select_option("wrong")
    assert tab.locator("#batch-go").inner_text() == f"Reject {count:,} facts"
    tab.locator("#batch-cancel").click()
    assert len(rows(run)) == before
    tab.locator("#open-batch").click()
    tab.locator("#batch-verdict").select_option("wrong")
    tab.locator("#batch-go").click()
    tab.wait_for_function("() => /decided about/.test(document.getElementById('said').textContent)")
    new = rows(run)[before:]
    assert len(new) == count
    assert {(row.verdict, row.chosen, row.reviewer) for row in new} == {("wrong", "batch", "ben")}
    tab.wait_for_selector("text=Nothing is left here.")
    tab.keyboard.press("a")  # nothing to decide about: nothing happens
    assert len(rows(run)) == before + count


def test_keys_can_be_chosen_and_are_remembered(opened, run):
    tab = opened()
    tab.locator("#keys-panel summary").click()
    tab.locator("[data-key=right]").click()
    tab.keyboard.press("d")  # was "don't know", which gets the old key in return
    assert tab.locator("button.right kbd").inner_text() == "D"
    assert tab.locator("button.unknown kbd").inner_text() == "A"
    tab.reload()
    tab.wait_for_selector("#fact[data-proposal] .sentence")
    assert tab.locator("button.right kbd").inner_text() == "D"
    press(tab, "d")
    assert rows(run)[-1].verdict == "right"


def test_letters_with_other_keys_held_are_left_to_the_browser(opened, run):
    tab = opened()
    fact, before = shown(tab), len(rows(run))
    for key in ("Control+a", "Alt+r"):
        tab.keyboard.press(key)
    tab.wait_for_timeout(300)
    assert shown(tab) == fact and len(rows(run)) == before


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_phone_shows_big_buttons_and_never_scrolls_sideways(opened, run, width):
    tab = opened(width=width, height=844, has_touch=True, is_mobile=True)
    for _ in range(5):
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        for name in ("right", "wrong", "unknown", "skip", "undo", "note"):
            box = tab.locator(f"#verdicts .{name}").bounding_box()
            assert box["height"] >= 44 and box["width"] >= 44
            assert box["y"] + box["height"] <= 844 and box["x"] + box["width"] <= width
        before = shown(tab)
        tab.locator("#verdicts .right").tap()
        saved(tab, before)
        assert rows(run)[-1].proposal == before
    for panel in tab.locator("details summary").all():
        panel.tap()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_names_that_mean_harm_are_only_read(opened):
    tab = opened(words="&relation=r%3A1&order=teaches")
    struck = []
    tab.on("dialog", lambda dialog: struck.append(dialog.message))
    seen = ""
    for _ in range(40):
        seen += tab.locator("#fact").inner_text()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 1280
        press(tab, "s")
    assert "<script>window.struck = 1</script>" in seen and "⟨U+202E⟩" in seen
    assert "<img src=x onerror=window.struck=2>" in seen and "(10,000 letters)" in seen
    assert tab.evaluate("window.struck") is None and struck == []
    assert tab.locator("#fact script, #fact img").count() == 0
    assert not tab.locator("a[href^='javascript']").count()


def test_links_lead_to_the_iris_and_tell_nobody_where_from(opened):
    tab = opened()
    for link in tab.locator("#fact a[href]").all():
        assert link.get_attribute("href").startswith("http")
        assert link.get_attribute("rel") == "noopener noreferrer"


def test_ten_thousand_proposals_are_counted_and_can_be_chosen_from(opened):
    tab = opened()
    tab.wait_for_function("() => /10,000/.test(document.getElementById('counts').textContent)")
    options = tab.locator("[name=relation] option").all_inner_texts()
    numbers = [int(re.search(r"\(([\d,]+)\)$", text)[1].replace(",", "")) for text in options[1:]]
    assert sum(numbers) == 10_000 and numbers == sorted(numbers, reverse=True)


def test_every_control_has_a_name_and_changes_are_announced(opened):
    tab = opened()
    nameless = tab.evaluate(
        "[...document.querySelectorAll('button, input, select, progress, summary')].filter(it => "
        "it.checkVisibility() && !(it.innerText?.trim() || it.getAttribute('aria-label') "
        "|| it.labels?.length)).length"
    )
    assert nameless == 0
    assert tab.locator("#said[aria-live=polite]").count() == 1
    assert tab.locator("#trouble[role=alert]").count() == 1
    assert tab.evaluate("document.documentElement.lang") == "en"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(opened, scheme):
    tab = opened(scheme=scheme)
    press(tab, "a")
    ratios = tab.evaluate(
        """() => {
          const parse = c => c.match(/[\\d.]+/g).map(Number);
          const light = c => { const [r, g, b] = parse(c).map(v => v / 255)
            .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
            return .2126 * r + .7152 * g + .0722 * b; };
          const back = it => { for (; it; it = it.parentElement) {
            const c = getComputedStyle(it).backgroundColor;
            if (!/, 0\\)$/.test(c) && c !== 'transparent') return c; } return 'rgb(255,255,255)'; };
          const all = 'p, h1, h2, li, button, select, label, summary, b, kbd';
          return [...document.querySelectorAll(all)]
            .filter(it => it.innerText?.trim() && it.checkVisibility() && !it.disabled).map(it => {
              const [a, b] = [light(getComputedStyle(it).color), light(back(it))];
              return [it.className || it.tagName, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)];
            });
        }"""
    )
    assert len(ratios) > 30
    assert [ratio for ratio in ratios if ratio[1] < 4.5] == []


def test_a_killed_server_loses_nothing_and_the_open_page_goes_on(browser, tmp_path):
    run = make_review(tmp_path, 300)
    first = Served(run, "--port", "0", reviewers=("anna",))
    context = browser.new_context()
    try:
        tab = context.new_page()
        tab.set_default_timeout(WAIT)
        tab.goto(first.addresses["anna"])
        tab.wait_for_selector("#fact[data-proposal] .sentence")
        done = [(press(tab, key), key) for key in "ardaarda"]
        first.kill()
        fact = shown(tab)
        tab.keyboard.press("r")
        tab.wait_for_function(
            "() => document.querySelector('#trouble').textContent.includes('Not saved')"
        )
        assert tab.locator("#trouble").is_visible()
        assert shown(tab) == fact  # comes back: it is not decided about
        with serving(run, "--port", str(first.port), reviewers=("anna",)) as second:
            assert second.tokens == first.tokens
            tab.wait_for_selector("#trouble[hidden]", state="attached")
            done += [(press(tab, key), key) for key in "rad"]
            verdicts = {"a": "right", "r": "wrong", "d": "unknown"}
            assert [(row.proposal, row.verdict) for row in rows(run)] == [
                (proposal, verdicts[key]) for proposal, key in done
            ]
            assert done[8][0] == fact
            tab.reload()
            tab.wait_for_selector("#recent li")
            assert tab.locator("#recent li").count() == len(done)
    finally:
        context.close()
        first.stop()
