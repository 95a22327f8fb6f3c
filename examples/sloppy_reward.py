"""A reward that is too easily earned, to see what audit verifiers are for (docs/evidence.md).

rlvr train examples/tour.toml --plugin examples/sloppy_reward.py task.verifier=sloppy 'evaluation.audit={task={}}'
"""

from tasks import Problem
from verifiers import Outcome, Verdict, register_verifier


@register_verifier("sloppy")
class Sloppy:
    """Right when the last character is that of the gold answer: a test that looks at too little."""

    def verify(self, problem: Problem, response: str) -> Verdict:
        right = response.rstrip().endswith(problem.reference.value[-1])
        return Verdict(
            outcome=Outcome.CORRECT if right else Outcome.INCORRECT, score=float(right), answer=response[-1:]
        )
