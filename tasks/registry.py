"""Tasks by name: the built-in ones, those of --plugin files and those of installed distributions."""

from collections.abc import Callable, Mapping

from tasks.errors import TaskNameTakenError, TaskOptionError, TaskPluginError, UnknownTaskError
from tasks.plugins import Factory, Registry, RegistryErrors
from tasks.types import Task

_TASKS = Registry(
    noun="task",
    built_in={
        "arithmetic": "tasks.arithmetic:Arithmetic",
        "countdown": "tasks.countdown:Countdown",
        "gsm8k": "tasks.gsm8k:Gsm8k",
        "hendrycks_math": "tasks.hendrycks_math:HendrycksMath",
        "humaneval": "tasks.humaneval:HumanEval",
        "jsonl": "tasks.jsonl:Jsonl",
        "math500": "tasks.hendrycks_math:Math500",
        "mbpp": "tasks.mbpp:Mbpp",
        "multiple_choice_jsonl": "tasks.multiple_choice:MultipleChoiceJsonl",
        "procedural_code": "tasks.procedural_code:ProceduralCode",
        "stdin_programs": "tasks.stdin_programs:StdinPrograms",
        "svamp": "tasks.svamp:Svamp",
    },
    entry_point_group="rlvr.tasks",
    options_key="task.options",
    contract=Task,
    errors=RegistryErrors(
        unknown=UnknownTaskError, name_taken=TaskNameTakenError, plugin=TaskPluginError, option=TaskOptionError
    ),
)


def load_task(name: str, options: Mapping[str, object] | None = None) -> Task:
    """Make the task called `name`; `options` are the keyword parameters of its class.

    Raises:
        UnknownTaskError: lists the known names.
        TaskOptionError: one line for each option that is unknown, missing or of the wrong type.
        TaskNameTakenError: more than one distribution claims the name.
        TaskPluginError: the plug-in behind the name is broken; the cause is chained.
    """
    return _TASKS.load(name, options or {})


def register_task(name: str) -> Callable[[Factory], Factory]:
    """Give the decorated class or function a task name: `@register_task("mine")`.

    Raises:
        TaskNameTakenError: the name is in use.
    """
    return _TASKS.register(name)


def task_names() -> list[str]:
    """Return every known task name, sorted."""
    return _TASKS.names()
