from pathlib import Path

import pytest

from tasks import (
    Task,
    TaskNameTakenError,
    TaskOptionError,
    UnknownTaskError,
    import_plugin_file,
    load_task,
    register_task,
    task_names,
)

PLUGIN = """
from tasks import MathAnswer, Problem, register_task

@register_task("counting-{suffix}")
class Counting:
    name = "counting"

    def __init__(self, *, upto: int = 3) -> None:
        self.upto = upto

    def problems(self, split: str):
        return [self.problem(f"counting/{{split}}/{{n}}", n) for n in range(self.upto)]

    def problem(self, name: str, n: int):
        return Problem(id=name, prompt=f"{{n}}+1=", reference=MathAnswer(value=str(n + 1)), verifier="numeric")
"""


def test_the_built_in_tasks_are_known():
    assert {"arithmetic", "gsm8k", "humaneval", "jsonl", "mbpp", "procedural_code", "stdin_programs", "svamp"} <= set(
        task_names()
    )


@pytest.mark.parametrize("name", ["arithmetic", "gsm8k", "humaneval", "mbpp", "procedural_code", "svamp"])
def test_a_built_in_task_needs_no_option(name: str):
    task = load_task(name)
    assert isinstance(task, Task)
    assert task.name == name


def test_a_plugin_file_adds_a_task(tmp_path: Path):
    file = tmp_path / "counting.py"
    file.write_text(PLUGIN.format(suffix="a"))
    import_plugin_file(file)
    task = load_task("counting-a", {"upto": 2})
    assert [problem.id for problem in task.problems("train")] == ["counting/train/0", "counting/train/1"]


def test_an_unknown_task_is_answered_with_the_nearest_name():
    with pytest.raises(UnknownTaskError, match=r"no task named 'gsm8'.*'gsm8k'.*known: .*arithmetic.*--plugin"):
        load_task("gsm8")


def test_a_missing_option_is_named():
    with pytest.raises(TaskOptionError, match=r"task\.options\.path: task 'jsonl' needs this option \(a string\)"):
        load_task("jsonl")


def test_an_option_error_is_a_value_error():
    with pytest.raises(ValueError, match="did you mean 'test_size'"):
        load_task("svamp", {"testsize": 3})


def test_the_name_of_a_built_in_task_is_taken():
    with pytest.raises(TaskNameTakenError, match="built-in task"):
        register_task("gsm8k")


@pytest.mark.parametrize("name", ["gsm8k", "svamp", "arithmetic"])
def test_another_split_is_refused_with_the_list(name: str):
    with pytest.raises(TaskOptionError, match=r"'validation'|train.*test"):
        load_task(name).problems("validation")
