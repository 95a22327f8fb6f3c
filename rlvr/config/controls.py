"""Control arms: the main arm once more, with a reward that says nothing about the answer, or without learning."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from rlvr.config.models import Config

Control: TypeAlias = Literal["random_reward", "shuffled_reward", "format_only", "lr_zero"]
CONTROLS: tuple[str, ...] = get_args(Control)


def control_tables(control: str, main: Config, own_verifier: Callable[[Config], str]) -> Mapping[str, Any]:
    """Return what a control arm changes of the main one, as tables of a configuration.

    Args:
        own_verifier: tells the name of the verifier that the task names; asked for shuffled_reward alone.

    Raises:
        ConfigError: as `own_verifier`.
    """
    if control == "lr_zero":
        return {"optimizer": {"lr": 0.0, "critic_lr": 0.0}}
    judge, options = held_out_judge(main)
    # What is measured stays what the main arm is measured by.
    evaluation = {"verifier": judge, "verifier_options": options}
    match control:
        case "random_reward":
            task = {"verifier": "random", "verifier_options": {}}
        case "shuffled_reward":
            inside = {"verifier": main.task.verifier or own_verifier(main), "options": main.task.verifier_options}
            task = {"verifier": "shuffled", "verifier_options": inside}
        case "format_only":
            task = {"verifier": "answer_format", "verifier_options": {}}
        case _:
            raise AssertionError(control)
    return {"task": task, "evaluation": evaluation}


def held_out_judge(config: Config) -> tuple[str, dict[str, Any]]:
    """Return who judges held-out responses, by the name that evaluation.verifier takes, and its options."""
    evaluation = config.evaluation
    if evaluation.verifier is not None:
        return evaluation.verifier, evaluation.verifier_options
    return config.task.verifier or "task", config.task.verifier_options
