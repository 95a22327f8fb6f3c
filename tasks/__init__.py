"""Problems to learn from: what is asked, what a right answer is, and where both come from."""

from tasks.errors import (
    TaskDataError,
    TaskError,
    TaskNameTakenError,
    TaskOptionError,
    TaskPluginError,
    UnknownTaskError,
)
from tasks.plugins import import_plugin_file
from tasks.registry import load_task, register_task, task_names
from tasks.sampling import ProblemSampler
from tasks.types import (
    AssertTests,
    Compare,
    CountdownTarget,
    FunctionCase,
    FunctionTests,
    MathAnswer,
    Problem,
    PytestTests,
    StdinTests,
    Task,
)

__all__ = [
    "AssertTests",
    "Compare",
    "CountdownTarget",
    "FunctionCase",
    "FunctionTests",
    "MathAnswer",
    "Problem",
    "ProblemSampler",
    "PytestTests",
    "StdinTests",
    "Task",
    "TaskDataError",
    "TaskError",
    "TaskNameTakenError",
    "TaskOptionError",
    "TaskPluginError",
    "UnknownTaskError",
    "import_plugin_file",
    "load_task",
    "register_task",
    "task_names",
]
