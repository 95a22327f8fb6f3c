"""The example of a verifier of one's own works, as `--plugin examples/my_verifier.py` loads it."""

from pathlib import Path

import pytest

from tasks import MathAnswer, Problem, import_plugin_file
from verifiers import BadReferenceError, Outcome, Verifier, load_verifier
from verifiers.conformance import Case, self_check

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_verifier.py"
CITY = Problem(
    id="cities/1",
    prompt="Which city never sleeps?",
    reference=MathAnswer(value="New York | NYC", answer_format="boxed"),
    verifier="aliases",
)


@pytest.fixture(scope="module")
def verifier() -> Verifier:
    import_plugin_file(EXAMPLE)
    return load_verifier("aliases")


@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        ("It is \\boxed{NYC}.", Outcome.CORRECT),
        ("It is \\boxed{ new york }.", Outcome.CORRECT),
        ("It is \\boxed{Boston}.", Outcome.INCORRECT),
        ("It is \\boxed{New York | NYC}.", Outcome.INCORRECT),
        ("\\boxed{Boston} or \\boxed{NYC}", Outcome.INCORRECT),
        ("It is NYC.", Outcome.NO_ANSWER),
        ("It is \\boxed{}.", Outcome.NO_ANSWER),
    ],
)
def test_the_example_judges(verifier: Verifier, response: str, outcome: Outcome):
    assert verifier.verify(CITY, response).outcome is outcome


def test_the_example_takes_its_option(verifier: Verifier):
    by_comma = load_verifier("aliases", {"separator": ","})
    assert by_comma.verify(CITY, "\\boxed{NYC}").outcome is Outcome.INCORRECT
    assert by_comma.verify(CITY, "\\boxed{New York | NYC}").outcome is Outcome.CORRECT


def test_the_example_refuses_a_reference_of_another_kind(verifier: Verifier):
    with pytest.raises(BadReferenceError, match="x/1"):
        verifier.verify(Problem(id="x/1", prompt="?", reference=7, verifier="aliases"), "\\boxed{7}")


def test_the_example_passes_the_conformance_suite(verifier: Verifier):
    self_check(verifier, [Case(problem=CITY, accepted=["\\boxed{NYC}"], rejected=["\\boxed{Boston}", "NYC"])])


def test_the_example_has_at_most_25_lines():
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) <= 25
