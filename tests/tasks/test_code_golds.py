"""The data sets' own solutions pass their tests, in the real sandbox; programs that do nothing fail them."""

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.docker_engine import require_docker
from support.shared_data import shared_file

from tasks import Problem, load_task
from verifiers import Verifier, load_verifier
from verifiers.types import Outcome, Verdict

pytestmark = pytest.mark.slow

DATA_SET_ERRORS: frozenset[str] = frozenset()
"""Problems whose published solution fails the published tests, by id. There are none (with Python 3.11)."""
THREADS = 4
MBPP_SPLITS = {"train": 374, "test": 500, "validation": 90, "prompt": 10}


@pytest.fixture(scope="module")
def verifiers() -> Iterator[Mapping[str, Verifier]]:
    require_docker()
    from sandbox.docker_sandbox import DockerSandbox

    sandbox = DockerSandbox()
    yield {name: load_verifier(name, {"sandbox": sandbox}) for name in ("assert_tests", "function_tests")}
    sandbox.close()


def humaneval() -> Sequence[Problem]:
    return load_task("humaneval", {"path": shared_file("data/HumanEval.jsonl.gz")}).problems("test")


def mbpp(split: str) -> Sequence[Problem]:
    return load_task("mbpp", {"path": shared_file("data/mbpp.jsonl"), "challenge_tests": True}).problems(split)


def does_nothing(problem: Problem) -> str:
    """Return the demonstration with `pass` for the body of the function that is asked for."""
    source = (problem.demonstration or "").removeprefix("```python\n").removesuffix("```")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escape sequences in the data
        tree = ast.parse(source)
    bodies = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == problem.reference.function
    ]
    assert bodies
    for node in bodies:
        node.body = [ast.Pass()]
    return f"```python\n{ast.unparse(tree)}\n```"


def verdicts_on(
    problems: Sequence[Problem], responses: Sequence[str], verifiers: Mapping[str, Verifier]
) -> dict[str, Verdict]:
    with ThreadPoolExecutor(THREADS) as pool:
        verdicts = pool.map(
            lambda problem, response: verifiers[problem.verifier].verify(problem, response), problems, responses
        )
        return {problem.id: verdict for problem, verdict in zip(problems, verdicts, strict=True)}


def failing(problems: Sequence[Problem], verifiers: Mapping[str, Verifier]) -> dict[str, Verdict]:
    """Return the verdicts other than CORRECT on the demonstrations."""
    verdicts = verdicts_on(problems, [problem.demonstration or "" for problem in problems], verifiers)
    return {name: verdict for name, verdict in verdicts.items() if verdict.outcome is not Outcome.CORRECT}


def passing_without_a_body(problems: Sequence[Problem], verifiers: Mapping[str, Verifier]) -> dict[str, Verdict]:
    """Return the verdicts with a score on programs that do nothing; NO_ANSWER would be our own failure."""
    verdicts = verdicts_on(problems, [does_nothing(problem) for problem in problems], verifiers)
    assert not [name for name, verdict in verdicts.items() if verdict.outcome is Outcome.NO_ANSWER]
    return {name: verdict for name, verdict in verdicts.items() if verdict.score > 0}


def test_all_humaneval_solutions_pass(verifiers: Mapping[str, Verifier]):
    problems = humaneval()
    assert len(problems) == 164
    assert failing(problems, verifiers).keys() == {p.id for p in problems} & DATA_SET_ERRORS


def test_no_humaneval_problem_is_passed_by_a_function_that_does_nothing(verifiers: Mapping[str, Verifier]):
    assert passing_without_a_body(humaneval(), verifiers) == {}


@pytest.mark.parametrize("split", MBPP_SPLITS)
def test_all_mbpp_solutions_pass(split: str, verifiers: Mapping[str, Verifier]):
    problems = mbpp(split)
    assert len(problems) == MBPP_SPLITS[split]
    assert failing(problems, verifiers).keys() == {p.id for p in problems} & DATA_SET_ERRORS


@pytest.mark.parametrize("split", MBPP_SPLITS)
def test_no_mbpp_problem_is_passed_by_a_function_that_does_nothing(split: str, verifiers: Mapping[str, Verifier]):
    assert passing_without_a_body(mbpp(split), verifiers) == {}


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("bare", [True, False])
def test_procedural_demonstrations_pass_and_those_that_slip_in_one_step_fail(
    level: int, bare: bool, verifiers: Mapping[str, Verifier]
):
    task = load_task("procedural_code", {"level": level, "bare": bare})
    problems = [*task.problems("train")[:30], *task.problems("test")[:30]]
    assert failing(problems, verifiers) == {}
    slipping = load_task("procedural_code", {"bare": bare, "slip_rate": 1.0}).problems("train")[:30]
    slipped = {problem.id for problem in slipping if problem.metadata["slipped"][0]}
    assert failing(slipping, verifiers).keys() == slipped
