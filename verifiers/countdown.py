"""Judge arithmetic expressions that must make a target out of given numbers."""

from collections import Counter

from tasks.types import CountdownTarget, Problem
from verifiers.arithmetic import ExpressionError, read_expression
from verifiers.errors import BadReferenceError
from verifiers.extract import UnknownAnswerFormatError, extract_answer
from verifiers.types import Verdict
from verifiers.verdicts import correct, incorrect, no_answer, shown


class Countdown:
    """Checks that the response's expression uses the given numbers and makes the target; needs a CountdownTarget.

    What is read as an expression says verifiers.arithmetic; "= 24" may follow if 24 is the target. Each number may be
    used as often as it is given, and with `use_all` must be.
    """

    def verify(self, problem: Problem, response: str) -> Verdict:
        """Return the verdict on `response`.

        Raises:
            BadReferenceError: the reference is no CountdownTarget, has negative numbers or none, or asks for an unknown
                answer format.
        """
        reference = _reference(problem)
        try:
            extraction = extract_answer(response, reference.answer_format)
        except UnknownAnswerFormatError as error:
            raise BadReferenceError(f"problem {problem.id}: {error}") from error
        if extraction.text is None:
            return no_answer(reference.answer_format)
        for rival in extraction.rivals:
            mistake = _mistake(rival, reference)
            if mistake and not (reference.answer_format.startswith("marker:") and _is_heading(rival)):
                return incorrect(extraction.text, f"several answers, of which one is wrong: {shown(rival)} {mistake}")
        mistake = _mistake(extraction.text, reference)
        if mistake:
            return incorrect(extraction.text, f"{shown(extraction.text)} {mistake}")
        return correct(extraction.text, f"makes {reference.target}")


def _reference(problem: Problem) -> CountdownTarget:
    reference = problem.reference
    if not isinstance(reference, CountdownTarget):
        raise BadReferenceError(
            f"problem {problem.id}: this verifier needs a CountdownTarget as the reference, not a "
            f"{type(reference).__name__}"
        )
    if not reference.numbers or any(number < 0 for number in reference.numbers):
        raise BadReferenceError(
            f"problem {problem.id}: the numbers must be some of 0 and above, got {shown(repr(reference.numbers))}"
        )
    return reference


def _mistake(text: str, reference: CountdownTarget) -> str:
    """Return what is wrong with an answer, "" where nothing is."""
    try:
        expression = read_expression(text)
    except ExpressionError as error:
        return str(error)
    if expression.claimed not in (None, reference.target):
        return f"claims to make {shown(str(expression.claimed))}, not {reference.target}"
    used, given = Counter(expression.numbers), Counter(reference.numbers)
    surplus = used - given
    if surplus:
        return f"uses {_listed(surplus)} more often than given"
    if reference.use_all and used != given:
        return f"does not use {_listed(given - used)}"
    if expression.value != reference.target:
        return f"makes {shown(str(expression.value))}, not {reference.target}"
    return ""


def _is_heading(text: str) -> bool:
    """Return whether what follows a marker is no answer but a heading of markdown, "#### Step 1"."""
    try:
        read_expression(text)
    except ExpressionError:
        return True
    return False


def _listed(numbers: Counter[int]) -> str:
    return shown(", ".join(map(str, sorted(numbers.elements()))))
