"""The report page in a real browser; conftest.py starts it."""

import time
from urllib.parse import quote

import pytest
from support.chromium import ARROW_RIGHT, ESCAPE, Browser
from support.report_payloads import HOSTILE


@pytest.mark.parametrize("name", ["whole", "pair", "begun", "poor", "hostile", "long"])
def test_the_page_opens_without_a_word_on_the_console(browser: Browser, name: str) -> None:
    browser.complaints()
    browser.open(name)
    browser.keys("j", "l", "k", "h")

    assert browser.complaints() == []
    assert browser.ask("document.getElementById('loading')") is None


def test_the_x_axis_buttons_change_the_axis_of_every_training_chart(browser: Browser) -> None:
    browser.open("whole")
    ticks = [browser.texts(f"#{part} .tick.x") for part in ("curves", "training")]
    browser.click("[data-value=tokens]")

    assert ticks[0][-1] == "10"
    assert browser.texts("#curves .tick.x")[-1] == "16k"
    assert browser.texts("#training .tick.x") != ticks[1]
    assert browser.ask("document.querySelector('[data-value=tokens]').getAttribute('aria-pressed')") == "true"


def test_the_theme_button_switches_to_dark_and_is_remembered(browser: Browser) -> None:
    def ground() -> str:
        return browser.ask("getComputedStyle(document.body).backgroundColor")

    light, dark = "rgb(255, 255, 255)", "rgb(21, 24, 28)"
    browser.open("whole")
    assert ground() == light
    browser.click("#theme")
    assert ground() == dark
    # Chromium writes localStorage behind the page's back, so that the very next page may not see it yet.
    for _ in range(20):
        browser.open("whole")
        if ground() == dark:
            break
        time.sleep(0.1)
    assert ground() == dark
    browser.click("#theme")
    assert ground() == light


def test_nothing_in_hostile_text_runs_or_becomes_an_element(browser: Browser) -> None:
    browser.open("hostile", "step=10&problem=" + quote(HOSTILE.encode("utf-8", "replace").decode()))
    for key in ("value", "kl_token"):
        browser.click(f"#rollouts [data-key={key}]")

    assert browser.ask("typeof window.hacked") == "undefined"
    assert (
        browser.ask("document.querySelectorAll('main img, main script, main svg[onload], main b script').length") == 0
    )
    shown = browser.ask("document.querySelector('.tokens').textContent")
    assert shown.startswith("</script><script>window.hacked = 1</script>")
    assert "U+202E" in shown
    assert "U+D800" in shown
    assert len(shown) < 5000, "a token of a megabyte is cut"


def test_a_script_that_got_into_the_page_would_not_run(browser: Browser) -> None:
    browser.open("whole")
    browser.ask(
        "(() => { const one = document.createElement('script'); one.textContent = 'window.hacked = 6'; "
        "document.body.append(one); const two = document.createElement('div'); "
        "two.innerHTML = '<img src=data:, onerror=\"window.hacked = 7\">'; document.body.append(two); })()"
    )

    assert browser.ask("typeof window.hacked") == "undefined"
    assert sum("Content Security Policy" in message for message in browser.complaints()) >= 2


def test_dragging_across_a_chart_zooms_all_and_escape_resets(browser: Browser) -> None:
    browser.open("whole")
    chart = browser.element("#curves .chart")
    at_left = browser.actions().move_to_element_with_offset(chart, -60, 0)
    at_left.click_and_hold().move_by_offset(160, 0).release().perform()
    zoomed = [browser.texts(f"#{part} .tick.x") for part in ("curves", "training")]
    browser.until("location.hash.includes('zoom=')")
    low, high = map(float, browser.ask("new URLSearchParams(location.hash.slice(1)).get('zoom')").split("~"))
    browser.ask("document.querySelector('#curves .chart').focus()")
    browser.keys(ESCAPE)

    assert 0 < low < high < 10
    assert "0" not in zoomed[0]
    assert "10" not in zoomed[1]
    assert browser.texts("#curves .tick.x")[0] == "0"


def test_the_crosshair_reads_all_curves_at_one_place(browser: Browser) -> None:
    browser.open("whole")
    browser.ask("document.querySelector('#curves .chart').focus()")
    browser.keys(ARROW_RIGHT, ARROW_RIGHT)
    browser.until("document.querySelector('.legend .place').textContent === 'PPO step 5'")

    assert browser.texts(".legend tbody td") == [
        "55.0 % [20.0, 60.0]", "50.0 % [20.0, 60.0]", "80.0 % [70.0, 90.0]", "45.0 % [10.0, 50.0]",
        "40.0 %", "200 at step 5",
    ]  # fmt: skip
    assert browser.texts("[data-metric='reward/mean'] .reading") == ["0.5"]


def test_y_axes_can_be_logarithmic_or_fitted_to_the_curves(browser: Browser) -> None:
    browser.open("whole", "log=1&fit=1")
    ticks = "[data-metric='{}'] .tick:not(.x)"

    assert browser.texts(ticks.format("reward/mean")) == ["0.1", "0.2", "0.5", "1"]
    assert "0" in browser.texts(ticks.format("critic/explained_variance")), "it has negative values: linear"
    assert browser.texts("#curves .tick:not(.x)")[0] == "10 %"
    assert browser.texts("#curves .tick:not(.x)")[-1] == "90 %"


def test_the_legend_hides_kinds_and_runs(browser: Browser) -> None:
    browser.open("pair")
    lines = "document.querySelectorAll('#curves .line').length"
    before = browser.ask(lines)
    browser.click(".legend tbody button")
    without_greedy = browser.ask(lines)
    browser.click(".legend thead th:last-child button")

    # Greedy and sampled of two runs at first.
    assert (before, without_greedy, browser.ask(lines)) == (4, 2, 1)
    assert browser.ask("document.querySelectorAll('[data-metric=\"reward/mean\"] .line').length") == 1


def test_a_link_opens_the_same_view(browser: Browser) -> None:
    browser.open("pair", "x=wall_s&zoom=2~4&run=1&step=5&problem=sums/train/0&colour=ratio&all=1&at=rollouts")

    assert browser.ask("document.querySelector('[data-value=wall_s]').getAttribute('aria-pressed')") == "true"
    assert browser.texts("#curves .tick.x")[0] == "2"
    assert browser.text("#rollouts article h3").startswith("run-b, step 5")
    assert browser.ask("document.querySelector('[data-key=ratio]').getAttribute('aria-pressed')") == "true"
    assert browser.ask("Math.abs(document.getElementById('rollouts').getBoundingClientRect().top) < 120")
    browser.ask("location.hash = 'run=0&step=10'")
    browser.until("document.querySelector('[data-value=step]').getAttribute('aria-pressed') === 'true'")
    assert browser.text("#rollouts article h3").startswith("run-a, step 10")


def test_what_is_missing_is_named_instead_of_drawn_empty(browser: Browser) -> None:
    browser.open("begun")
    begun = browser.text("main")
    browser.open("poor", "step=10&problem=sums/train/1")
    poor = browser.text("main")

    for words in (
        "not finished",
        "No held-out evaluation yet.",
        "No PPO step",
        "No rollouts are in this page",
        "Nothing stood out",
    ):
        assert words in begun
    for words in ("One evaluation only", "No audit verifiers", "Not recorded: Advantage, Value", "Constant throughout"):
        assert words in poor
    assert browser.texts("#curves [data-value]") == ["PPO step", "wall time"]
    assert "tokens 1,002" in browser.text("#rollouts .facts-line").replace("\n", " ")
    assert browser.text(".token-title") == "b token 1,002"


def test_a_warning_leads_to_its_metric(browser: Browser) -> None:
    browser.open("whole")
    browser.click(".warnings button")

    assert browser.texts(".warnings .level") == ["\u26a0 Alarm", "i Note"]
    assert browser.texts(".warnings code") == ["kl_coef"]
    shown = "[...document.querySelectorAll('#training figure:not([hidden])')].map((one) => one.dataset.metric)"
    assert browser.ask(shown) == ["kl/per_response"]


def test_a_page_of_400_pixels_does_not_scroll_sideways(browser: Browser) -> None:
    size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for name in ("pair", "hostile"):
            browser.open(name)
            assert browser.ask("document.documentElement.scrollWidth") == 400
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_watched_page_reloads_itself_and_keeps_its_view(browser: Browser) -> None:
    browser.open("watched", "colour=value")
    browser.ask("window.old = true")
    browser.until("window.old === undefined && document.documentElement.dataset.ready === 'true'")

    assert browser.ask("document.querySelector('[data-key=value]').getAttribute('aria-pressed')") == "true"
    assert "Refreshes every 0.4 s." in browser.text("#summary")


def test_every_control_has_a_name_and_every_id_is_unique(browser: Browser) -> None:
    browser.open("pair")
    controls = "[...document.querySelectorAll('button, a, select, input, [role=img], [role=group]')]"
    nameless = f"{controls}.filter((one) => !one.getAttribute('aria-label') && !one.textContent.trim()).length"
    ids = browser.ask("[...document.querySelectorAll('[id]')].map((one) => one.id)")

    assert browser.ask(nameless) == 0
    assert len(ids) == len(set(ids))


def test_the_gaps_to_the_audits_are_lines_over_the_evaluations(browser: Browser) -> None:
    browser.open("whole")
    figure = "[data-metric='eval/train_gap']"

    assert browser.ask(f'document.querySelector("{figure} .line").getAttribute("d")').count("L") == 1
    assert len(browser.texts(f"{figure} .marker")) == 2
    assert browser.texts(f"{figure} .reading") == ["10.0 %"]


def test_characters_that_cannot_be_seen_are_spelled_out(browser: Browser) -> None:
    browser.open("hostile", "step=1&problem=sums/train/1")
    shown = browser.ask("document.querySelector('.tokens').textContent")

    assert shown == "seenU+E0068U+E0069U+3164U+00AD \U0001f469\u200d\U0001f4bb\u2764\ufe0f"
