from pathlib import Path

import pytest

from tasks import MathAnswer, Problem, import_plugin_file
from verifiers import (
    Outcome,
    UnknownVerifierError,
    VerifierNameTakenError,
    VerifierOptionError,
    VerifierPluginError,
    load_verifier,
    register_verifier,
    verifier_names,
)

PROBLEM = Problem(id="toy/1", prompt="?", reference=MathAnswer(value="72"), verifier="numeric")

PLUGIN = """
from tasks import Problem
from verifiers import Outcome, Verdict, register_verifier

@register_verifier("shortness")
class Shortness:
    def __init__(self, *, limit: int) -> None:
        self.limit = limit

    def verify(self, problem: Problem, response: str) -> Verdict:
        return Verdict(outcome=Outcome.CORRECT, score=float(len(response) <= self.limit))
"""


def test_the_built_in_verifiers_are_known():
    assert {"exact", "numeric"} <= set(verifier_names())


def test_a_plugin_file_adds_a_verifier(tmp_path: Path):
    file = tmp_path / "shortness.py"
    file.write_text(PLUGIN)
    import_plugin_file(file)
    assert load_verifier("shortness", {"limit": 3}).verify(PROBLEM, "abc").score == 1.0
    with pytest.raises(VerifierOptionError, match=r"task\.verifier_options\.limit: verifier 'shortness' needs"):
        load_verifier("shortness")


def test_a_built_in_verifier_takes_its_options():
    assert load_verifier("numeric", {"abs_tol": 1}).verify(PROBLEM, "71").outcome is Outcome.CORRECT


def test_an_unknown_verifier_is_answered_with_the_nearest_name():
    with pytest.raises(UnknownVerifierError, match=r"no verifier named 'numerc' \(did you mean 'numeric'\?\)"):
        load_verifier("numerc")


def test_an_unknown_option_is_answered_with_the_nearest_name():
    with pytest.raises(VerifierOptionError, match=r"task\.verifier_options\.abstol: .*did you mean 'abs_tol'"):
        load_verifier("numeric", {"abstol": 0.1})


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
def test_a_tolerance_out_of_range_is_refused(value: float):
    with pytest.raises(VerifierOptionError, match=r"task\.verifier_options\.rel_tol: must be"):
        load_verifier("numeric", {"rel_tol": value})


def test_the_name_of_a_built_in_verifier_is_taken():
    with pytest.raises(VerifierNameTakenError, match="built-in verifier"):
        register_verifier("exact")


def test_a_factory_that_makes_no_verifier_is_refused():
    @register_verifier("not-a-verifier")
    def make() -> str:
        return "no"

    with pytest.raises(VerifierPluginError, match="made a str, which is not a Verifier"):
        load_verifier("not-a-verifier")
