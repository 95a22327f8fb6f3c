"""Judge answers that are a text, character by character."""

from tasks.types import Problem
from verifiers.extract import read_answer
from verifiers.types import Outcome, Verdict


class Exact:
    """Compares the response's answer with the gold text; any run of blanks counts as one.

    A response that declares several different answers is incorrect.

    Args:
        case_sensitive: whether "East" differs from "east".
    """

    def __init__(self, *, case_sensitive: bool = True) -> None:
        self._case_sensitive = case_sensitive

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`.

        Raises:
            BadReferenceError: the reference is not a MathAnswer, or asks for an unknown answer format.
        """
        reference, extraction = read_answer(problem, response)
        if extraction.text is None:
            return Verdict(
                outcome=Outcome.NO_ANSWER, score=0.0, detail=f"no answer in the place {reference.answer_format!r}"
            )
        answer = self._normalised(extraction.text)
        if any(self._normalised(rival) != answer for rival in extraction.rivals):
            return Verdict(
                outcome=Outcome.INCORRECT, score=0.0, answer=extraction.text, detail="several different answers"
            )
        if answer != self._normalised(reference.value):
            return Verdict(
                outcome=Outcome.INCORRECT, score=0.0, answer=extraction.text, detail="differs from the gold text"
            )
        return Verdict(outcome=Outcome.CORRECT, score=1.0, answer=extraction.text, detail="equals the gold text")

    def _normalised(self, text: str) -> str:
        text = " ".join(text.split())
        return text if self._case_sensitive else text.casefold()
