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
from tasks.types import CountdownTarget, MathAnswer, Problem, Task

__all__ = [
    "CountdownTarget",
    "MathAnswer",
    "Problem",
    "ProblemSampler",
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
