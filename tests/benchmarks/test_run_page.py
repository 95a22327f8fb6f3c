"""The paired test of a run's page."""

import pytest

from benchmarks.run_page import fenced, mcnemar


@pytest.mark.parametrize(("gained", "lost", "p"), [(0, 0, 1.0), (5, 5, 1.0), (5, 0, 0.0625), (10, 1, 24 / 2048)])
def test_the_exact_mcnemar_test_is_a_two_sided_sign_test_on_the_flips(gained, lost, p):
    assert mcnemar(gained, lost) == pytest.approx(p)
    assert mcnemar(lost, gained) == pytest.approx(p)


def test_a_response_cannot_end_its_code_block():
    assert fenced("a\n```\nb") == ["````text", "a", "```", "b", "````"]
