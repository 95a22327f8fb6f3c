"""A verifier of one's own: any of several spellings is right, as in a gold answer "New York | NYC".

rlvr train --plugin examples/my_verifier.py task.verifier=aliases (its options: task.verifier_options.separator="/")
"""

from tasks import Problem
from verifiers import Outcome, Verdict, register_verifier
from verifiers.extract import read_answer


@register_verifier("aliases")
class Aliases:
    def __init__(self, *, separator: str = "|") -> None:
        self.separator = separator

    def verify(self, problem: Problem, response: str) -> Verdict:
        reference, found = read_answer(problem, response)  # in the place that the task declares, say \boxed{...}
        if found.text is None:
            return Verdict(outcome=Outcome.NO_ANSWER, score=0.0, detail="no answer in its place")
        right = {spelling.strip().casefold() for spelling in reference.value.split(self.separator)}
        if found.hedged or found.text.casefold() not in right:
            return Verdict(outcome=Outcome.INCORRECT, score=0.0, answer=found.text, detail="none of the spellings")
        return Verdict(outcome=Outcome.CORRECT, score=1.0, answer=found.text, detail="one of the spellings")
