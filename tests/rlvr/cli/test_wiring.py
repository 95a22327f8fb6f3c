"""From the configuration to objects: a mistake is told with the key that holds it."""

import pytest
from support.tiny_runs import tiny_config

from rlvr.cli import wiring
from tasks.types import MathAnswer, Problem
from verifiers.errors import VerifierOptionError

PROBLEMS = [Problem(id="p", prompt="1+1=", verifier="numeric", reference=MathAnswer(value="2"))]


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("evaluation.audit.nothing={}", "evaluation.audit: no verifier named 'nothing'"),
        ("evaluation.audit.exact={bad=1}", "evaluation.audit.exact.bad: verifier 'exact' has no such option"),
        ("evaluation.audit.task={bad=1}", "evaluation.audit.task.bad: verifier 'numeric' has no such option"),
    ],
)
def test_an_audit_verifier_that_cannot_be_made_names_its_own_key(override: str, told: str):
    with pytest.raises(VerifierOptionError) as caught:
        wiring.build_audits(tiny_config(override), PROBLEMS)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["evaluation.verifier=nothing"], "evaluation.verifier: no verifier named 'nothing'"),
        (
            ["evaluation.verifier=exact", "evaluation.verifier_options.bad=1"],
            "evaluation.verifier_options.bad: verifier 'exact' has no such option",
        ),
    ],
)
def test_a_held_out_verifier_that_cannot_be_made_names_its_own_key(overrides: list[str], told: str):
    with pytest.raises(VerifierOptionError) as caught:
        wiring.build_held_out_verifiers(tiny_config(*overrides), PROBLEMS, {})
    assert str(caught.value).startswith(told)
