"""Held-out probes in the rollout browser of the report page; conftest.py starts the browser."""

import pytest
from support.chromium import Browser


def places(browser: Browser) -> list[str]:
    """Return the problem that is shown, and the titles of the responses."""
    titles = "[...document.querySelectorAll('#rollouts article h3')].map((one) => one.firstChild.textContent)"
    return browser.ask(f"[document.querySelector('#rollouts .prompt code').textContent, ...{titles}]")


def token_texts(browser: Browser) -> list[str]:
    return browser.texts("#rollouts .token")


def test_the_page_opens_on_the_first_probe_after_the_last_step(browser: Browser) -> None:
    browser.complaints()
    browser.open("probed")

    assert places(browser) == ["sums/test/0", "Probe, after 10 steps"]
    assert browser.complaints() == []
    words = "Held-out probe: the policy after 10 steps, sampled, not trained on."
    assert words in browser.texts("#rollouts article .note")


def test_a_probe_problem_is_stepped_through_the_evaluations_with_its_tokens_coloured(browser: Browser) -> None:
    browser.open("probed", "at=rollouts")
    seen = [(places(browser)[1], token_texts(browser))]
    for key in ("h", "h", "l"):
        browser.keys(key)
        seen.append((places(browser)[1], token_texts(browser)))
    painted = browser.ask("getComputedStyle(document.querySelector('.token')).backgroundColor")
    browser.click("#rollouts [data-key=entropy]")
    repainted = browser.ask("getComputedStyle(document.querySelector('.token')).backgroundColor")

    assert places(browser)[0] == "sums/test/0"
    assert seen == [
        ("Probe, after 10 steps", ["7", " ", "=", "<eos>"]), ("Probe, after 5 steps", ["2", "+", "<eos>"]),
        ("Probe, after 0 steps", ["9", "<eos>"]), ("Probe, after 5 steps", ["2", "+", "<eos>"]),
    ]  # fmt: skip
    # The first token's advantage is -1.
    assert painted.startswith("rgba(213, 94, 0,")
    assert repainted.startswith("rgba(230, 159, 0,")


def test_a_probe_problem_is_followed_whatever_its_verdict(browser: Browser) -> None:
    browser.open("probed", "at=rollouts")
    browser.click("#rollouts [data-key=correct]")
    browser.keys("h")

    assert places(browser) == ["sums/test/0", "Probe, after 5 steps"]


@pytest.mark.parametrize("problem", ["sums/test/0", "sums/test/1"])
def test_another_evaluation_of_the_problem_can_be_shown_and_put_beside(browser: Browser, problem: str) -> None:
    browser.open("probed", f"problem={problem}")
    wheres = browser.texts(".others tbody th")
    browser.click(".others .acts button[data-key]")
    beside = places(browser)
    browser.click(".others .acts button")

    assert wheres == [f"Probe, after {step} steps" for step in (0, 5, 10)]
    assert beside == [problem, "Probe, after 10 steps", "Probe, after 0 steps"]
    assert places(browser)[:2] == [problem, "Probe, after 0 steps"]


def test_a_ratio_is_not_offered_for_probes_nor_called_missing(browser: Browser) -> None:
    browser.open("probed", "colour=ratio")
    keys = browser.ask("[...document.querySelectorAll('.colours [data-key]')].map((one) => one.dataset.key)")
    hidden = "[...document.querySelectorAll('.numbers dl div[hidden]')].map((row) => row.firstChild.textContent)"

    assert keys == ["advantage", "value", "kl_token", "exact_kl", "entropy"]
    assert browser.ask(hidden) == ["ratio"]
    assert "Not recorded" not in browser.text(".colours")
    assert "a ratio is not applicable" in browser.text("#rollouts")
    assert "training would push blue tokens up" in browser.text(".colours")


def test_training_rollouts_are_one_click_away_and_are_as_in_a_page_without_probes(browser: Browser) -> None:
    browser.open("probed")
    browser.click("#rollouts [data-key=rollout]")

    assert places(browser) == ["sums/train/0", "Step 10"]
    assert browser.texts("#rollouts select[aria-label=Step] option") == ["1", "5", "10"]
    assert browser.text("#rollouts [data-key=all]") == "all 2"
    assert browser.ask("document.querySelector('.colours [data-key=ratio]') !== null")


def test_a_link_opens_the_same_probe(browser: Browser) -> None:
    browser.open("probed", "kind=probe&step=5&problem=sums/test/1")

    assert places(browser) == ["sums/test/1", "Probe, after 5 steps"]


def test_probes_of_two_runs_stand_in_one_table(browser: Browser) -> None:
    browser.open("probed-pair")

    rows = [f"{run}, probe, after {step} steps" for step in (0, 5, 10) for run in ("run-a", "run-b")]
    assert browser.texts(".others tbody th") == rows
