"""The rollout browser of the report page in a real browser; conftest.py starts it."""

import time

import pytest
from support.chromium import ARROW_RIGHT, END, Browser


def colours(browser: Browser) -> list[str]:
    return browser.ask("[...document.querySelectorAll('.token')].map((one) => getComputedStyle(one).backgroundColor)")


def test_the_colour_buttons_repaint_the_tokens(browser: Browser) -> None:
    browser.open("whole", "step=1&problem=sums/train/0")
    by_advantage = colours(browser)
    browser.click("[data-key=value]")
    by_value = colours(browser)

    # Advantages are -1, 0, 1 ...: orange, none, blue.
    assert by_advantage[0].startswith("rgba(213, 94, 0,")
    assert by_advantage[1].endswith(", 0)")
    assert by_advantage[2].startswith("rgba(0, 114, 178,")
    assert all(colour.startswith("rgba(0, 158, 115,") for colour in by_value)
    assert browser.texts(".ends span") == ["0", "0.3", "0.6"]


def numbers(browser: Browser) -> dict[str, str]:
    return browser.ask(
        "Object.fromEntries([...document.querySelectorAll('.numbers dl div:not([hidden])')]"
        ".map((row) => [row.firstChild.textContent, row.lastChild.textContent]))"
    )


def test_pointing_at_a_token_shows_its_numbers_and_its_place_in_the_charts(browser: Browser) -> None:
    browser.open("whole", "step=1&problem=sums/train/0")
    browser.actions().move_to_element(browser.element(".token[data-i='2']")).perform()
    browser.until("document.querySelectorAll('.token-view .cross').length === 2")

    assert browser.text(".token-title") == "4 token 3"
    assert numbers(browser) == {
        "probability": "36.8 %", "log-prob": "\u22121", "ref. log-prob": "\u22121.125", "KL (k1)": "0.125",
        "exact KL": "0.1", "ratio": "1.02", "entropy": "0.2", "value": "0.2", "reward": "0", "reward so far": "0",
        "return": "1", "advantage": "1",
    }  # fmt: skip


def test_arrow_keys_move_between_tokens_and_only_one_token_is_a_tab_stop(browser: Browser) -> None:
    browser.open("whole", "step=1&problem=sums/train/0")
    browser.ask("document.querySelector('.token').focus()")
    browser.keys(ARROW_RIGHT, ARROW_RIGHT)
    third = browser.text(".token-title")
    browser.keys(END)

    assert third == "4 token 3"
    assert browser.text(".token-title") == "<eos> token 7"
    assert numbers(browser)["reward so far"] == "1"
    assert browser.ask("document.querySelectorAll('.token[tabindex=\"0\"]').length") == 1


def heading(browser: Browser) -> str:
    return browser.ask(
        "document.querySelector('#rollouts .prompt code').textContent + ' ' + "
        "document.querySelector('#rollouts article h3').firstChild.textContent"
    )


def test_letter_keys_move_between_responses_and_steps_and_keep_the_problem(browser: Browser) -> None:
    browser.open("whole", "at=rollouts&step=10&problem=sums/train/0")
    places = [heading(browser)]
    for key in ("h", "h", "l", "l", "j", "j", "k"):
        browser.keys(key)
        places.append(heading(browser))

    zero = [f"sums/train/0 Step {step}" for step in (10, 5, 1, 5, 10)]
    assert places == [*zero, "sums/train/1 Step 10", "sums/train/1 Step 10", "sums/train/0 Step 10"]


def test_letters_typed_into_the_filter_do_not_move_the_browser(browser: Browser) -> None:
    browser.open("whole", "step=10&problem=sums/train/0")
    browser.element("#training input").send_keys("hj")

    assert heading(browser) == "sums/train/0 Step 10"
    assert browser.ask("document.querySelectorAll('#training figure:not([hidden])').length") == 0
    assert "No metric" in browser.text("#training .note:not([hidden])")


def test_outcomes_can_be_filtered(browser: Browser) -> None:
    browser.open("whole", "step=10")
    browser.click("#rollouts [data-key=no_answer]")

    assert heading(browser) == "sums/train/1 Step 10"
    assert browser.ask("document.activeElement.dataset.key ?? ''") in ("", "no_answer")
    assert browser.text("#rollouts .facts-line").endswith("cut by the length limit")


def test_another_step_can_be_put_beside(browser: Browser) -> None:
    browser.open("whole", "step=10&problem=sums/train/0")
    browser.click(".others [data-key='0.0']")

    assert browser.texts("#rollouts article h3") == [
        "Step 10\u2713 correctchosen: recurs",
        "Step 1\u2717 incorrectchosen: recurs",
    ]


def test_line_ends_and_spaces_are_visible_and_copied_as_they_are(browser: Browser) -> None:
    browser.open("whole", "step=1&problem=sums/train/0")

    assert browser.ask("document.querySelector('.tokens').textContent") == "3+4\n  is<eos>"
    assert browser.ask("getComputedStyle(document.querySelector('.newline'), '::before').content") == '"\u23ce"'
    assert browser.ask("getComputedStyle(document.querySelector('.space'), '::before').content") == '"\u00b7"'


def test_a_response_of_4000_tokens_opens_quickly(browser: Browser) -> None:
    browser.open("long", "step=1")
    start = time.monotonic()
    browser.ask("location.hash = 'step=1&problem=sums/train/1'")
    browser.until("document.querySelectorAll('.token').length === 4000")

    assert time.monotonic() - start < 5


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    def luminance(colour: tuple[float, ...]) -> float:
        parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_on_the_strongest_token_colours_keeps_its_contrast(browser: Browser, theme: str) -> None:
    browser.open("whole", "step=1&problem=sums/train/0")
    browser.ask("document.documentElement.dataset.theme = arguments[0]", theme)
    ground, ink = ((255, 255, 255), (27, 31, 36)) if theme == "light" else ((21, 24, 28), (231, 233, 236))
    for key in ("advantage", "value", "exact_kl", "entropy", "ratio"):
        browser.click(f"#rollouts [data-key={key}]")
        for colour in colours(browser):
            *hue, alpha = (float(part) for part in colour[colour.index("(") + 1 : -1].split(","))
            painted = tuple(alpha * h + (1 - alpha) * g for h, g in zip(hue, ground, strict=True))
            assert contrast(painted, ink) >= 4.5, (key, colour)
