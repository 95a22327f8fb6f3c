import pytest

from rlvr.config.controls import CONTROLS, control_tables, held_out_judge
from rlvr.config.loading import load_config
from rlvr.config.models import Config


def control(name: str, *overrides: str) -> Config:
    main = load_config(None, overrides)
    tables = [
        ("base", main.model_dump(exclude_unset=True)),
        ("control", control_tables(name, main, lambda _: "numeric")),
    ]
    return load_config(None, [], tables=tables)


def without_reward_and_judge(config: Config) -> Config:
    task = config.task.model_copy(update={"verifier": None, "verifier_options": {}})
    evaluation = config.evaluation.model_copy(update={"verifier": None, "verifier_options": {}})
    return config.model_copy(update={"task": task, "evaluation": evaluation})


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize(
    "overrides",
    [
        (),
        ("task.verifier_options={strict = true}",),
        ('task.verifier="math"', "task.verifier_options={lenient = true}"),
        ('task.verifier="math"', 'evaluation.verifier="exact"', "evaluation.verifier_options={ignore_case = true}"),
    ],
)
def test_held_out_responses_of_a_control_are_judged_as_those_of_the_main_arm(name: str, overrides: tuple[str, ...]):
    assert held_out_judge(control(name, *overrides)) == held_out_judge(load_config(None, overrides))


@pytest.mark.parametrize("name", [name for name in CONTROLS if name != "lr_zero"])
def test_a_control_of_the_reward_changes_nothing_but_the_reward(name: str):
    assert without_reward_and_judge(control(name, "run.steps=9")) == load_config(None, ["run.steps=9"])
    assert control(name).task.verifier is not None


def test_lr_zero_keeps_the_reward_and_stops_all_learning():
    found = control("lr_zero", 'task.verifier="math"')
    assert (found.optimizer.lr, found.optimizer.critic_lr, found.task.verifier) == (0.0, 0.0, "math")


def test_the_shuffled_reward_holds_the_real_verifier_with_its_options():
    found = control("shuffled_reward", 'task.verifier="math"', "task.verifier_options={lenient = true}")
    assert found.task.verifier_options == {"verifier": "math", "options": {"lenient": True}}
    assert control("shuffled_reward").task.verifier_options == {"verifier": "numeric", "options": {}}


@pytest.mark.parametrize("name", CONTROLS)
def test_the_verifiers_of_the_controls_exist_and_take_the_options(name: str):
    from verifiers import load_verifier

    task = control(name).task
    if task.verifier is not None:
        load_verifier(task.verifier, task.verifier_options)
