import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.shared_data import shared_file

from tasks import AssertTests, Problem, Task, TaskDataError, TaskOptionError, load_task
from tasks.humaneval import INSTRUCTION

HEADER = '''import math


def area(r: float) -> float:
    """Area of a circle."""
'''
TEST = "def check(candidate):\n    assert candidate(0) == 0\n"
ROW: dict[str, Any] = {
    "task_id": "HumanEval/7",
    "prompt": HEADER,
    "entry_point": "area",
    "canonical_solution": "    return math.pi * r * r\n",
    "test": TEST,
}


def load(path: Path, *rows: Mapping[str, object], **options: object) -> Task:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_task("humaneval", {"path": str(path), **options})


@pytest.fixture(scope="module")
def real_problems() -> Sequence[Problem]:
    return load_task("humaneval", {"path": shared_file("data/HumanEval.jsonl.gz")}).problems("test")


def test_a_row_becomes_a_problem(tmp_path: Path):
    (problem,) = load(tmp_path / "a.jsonl", ROW).problems("test")
    assert problem.id == "humaneval/test/0"
    assert problem.prompt == f"{INSTRUCTION}\n```python\n{HEADER.strip()}\n```"
    assert problem.reference == AssertTests(asserts=(TEST, "check(area)"), function="area")
    assert problem.verifier == "assert_tests"
    assert problem.demonstration == f"```python\n{HEADER}    return math.pi * r * r\n```"
    assert problem.metadata == {"task_id": "HumanEval/7"}


def test_a_row_without_a_solution_has_no_demonstration(tmp_path: Path):
    row = {name: value for name, value in ROW.items() if name != "canonical_solution"}
    (problem,) = load(tmp_path / "a.jsonl", row).problems("test")
    assert problem.demonstration is None


def test_tests_get_a_helper_of_the_header_from_the_header_not_from_the_response(tmp_path: Path):
    header = "import math\n\ndef root(x):\n    return math.sqrt(x)\n\n" + HEADER
    (problem,) = load(tmp_path / "a.jsonl", {**ROW, "prompt": header, "test": TEST + "    root(4)\n"}).problems("test")
    helpers, test, call = problem.reference.asserts
    namespace: dict[str, object] = {}
    exec(helpers, namespace)
    assert {"math", "root"} <= namespace.keys()
    assert "area" not in namespace
    assert (test, call) == (TEST + "    root(4)\n", "check(area)")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": "def check(:"}, r"row 1: columns 'prompt' and 'test' must be Python source"),
        ({"prompt": "def area("}, r"row 1: columns 'prompt' and 'test' must be Python source"),
        ({"entry_point": ""}, r"row 1: column 'entry_point' is empty"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(change: dict[str, object], message: str, tmp_path: Path):
    with pytest.raises(TaskDataError, match=message):
        load(tmp_path / "a.jsonl", ROW | change).problems("test")


def test_there_is_no_train_split_and_the_message_says_what_to_do(tmp_path: Path):
    with pytest.raises(
        TaskOptionError, match=r"no 'train' split; train on the task 'mbpp', or set task\.options\.test"
    ):
        load(tmp_path / "a.jsonl", ROW).problems("train")


def test_test_size_holds_out_problems_and_leaves_the_others_to_train_on(tmp_path: Path):
    rows = [{**ROW, "prompt": HEADER.replace("area", f"area{n}"), "entry_point": f"area{n}"} for n in range(8)]
    task = load(tmp_path / "a.jsonl", *rows, test_size=3)
    train, test = task.problems("train"), task.problems("test")
    assert (len(train), len(test)) == (5, 3)
    assert not {problem.prompt for problem in train} & {problem.prompt for problem in test}
    with pytest.raises(TaskOptionError, match=r"task\.options\.test_size: must be at least 1, got 0"):
        load(tmp_path / "a.jsonl", ROW, test_size=0)


def test_the_real_file_has_all_problems_in_order(real_problems: Sequence[Problem]):
    assert [problem.id for problem in real_problems] == [f"humaneval/test/{n}" for n in range(164)]
    assert [problem.metadata["task_id"] for problem in real_problems] == [f"HumanEval/{n}" for n in range(164)]


def test_no_real_prompt_shows_its_solution_or_its_tests(real_problems: Sequence[Problem]):
    for problem in real_problems:
        header = problem.prompt.removeprefix(f"{INSTRUCTION}\n").removesuffix("\n```")
        demonstration = problem.demonstration or ""
        assert demonstration.startswith(header)
        assert demonstration.removeprefix(header).strip("`\n") not in problem.prompt
        assert "def check(" not in problem.prompt


def test_three_real_problems_need_a_helper_of_their_header(real_problems: Sequence[Problem]):
    with_helpers = [problem.id for problem in real_problems if len(problem.reference.asserts) == 3]
    assert with_helpers == ["humaneval/test/32", "humaneval/test/38", "humaneval/test/50"]


def test_real_tests_need_nothing_of_a_solution_but_the_function(real_problems: Sequence[Problem]):
    """The data set's own code, which is trusted, is run here in this process."""
    for problem in real_problems:
        solution: dict[str, object] = {}
        exec((problem.demonstration or "").removeprefix("```python\n").removesuffix("```"), solution)
        namespace = {problem.reference.function: solution[problem.reference.function]}
        for source in problem.reference.asserts:
            exec(source, namespace)
