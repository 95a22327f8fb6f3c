from collections.abc import Callable
from pathlib import Path

import pytest

from rlvr.config.models import Config
from rlvr.config.suites import Suite, load_suite
from rlvr.errors import ConfigError

SUITES = sorted((Path(__file__).parents[3] / "examples" / "suites").glob("*.toml"))


def numeric(_: Config) -> str:
    return "numeric"


def unasked(_: Config) -> str:
    raise AssertionError("the task need not be loaded for this")


def suite(folder: Path, text: str, own_verifier: Callable[[Config], str] = unasked) -> Suite:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return load_suite(path, own_verifier)


def mistakes(folder: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        suite(folder, text, numeric)
    return [line.removeprefix(f"{folder}/") for line in str(caught.value).splitlines()]


@pytest.mark.parametrize("file", SUITES, ids=lambda file: file.name)
def test_every_example_suite_is_valid(file: Path):
    found = load_suite(file, numeric)
    assert found.arms[found.main_arm]


def test_one_empty_arm_is_a_suite_with_three_seeds(tmp_path: Path):
    found = suite(tmp_path, "[arms.ppo]\n")
    assert (found.name, found.seeds, found.main_arm, found.controls) == ("my", (0, 1, 2), "ppo", ())
    assert found.arms == {"ppo": Config()}


def test_an_arm_lies_over_the_base_and_the_base_over_its_configuration_file(tmp_path: Path):
    (tmp_path / "file.toml").write_text("[run]\nsteps = 1\nthreads = 1\n[optimizer]\nlr = 0.5\n")
    found = suite(
        tmp_path,
        '[suite]\nconfig = "file.toml"\n[base]\nrun.steps = 2\noptimizer.lr = 0.25\n'
        "[arms.one]\n[arms.two]\noptimizer.lr = 0.125\n",
    )
    read = {name: (arm.run.threads, arm.run.steps, arm.optimizer.lr) for name, arm in found.arms.items()}
    assert read == {"one": (1, 2, 0.25), "two": (1, 2, 0.125)}


def test_a_preset_of_an_arm_fills_what_the_base_does_not_set(tmp_path: Path):
    found = suite(
        tmp_path,
        "[base]\nrollout.samples_per_prompt = 4\nalgorithm.kl_coef = 0.5\n"
        '[arms.ppo]\n[arms.grpo]\nalgorithm.preset = "grpo"\n',
    )
    assert found.arms["grpo"].algorithm.advantage == "group_normalized"
    assert found.arms["grpo"].algorithm.kl_coef == 0.5


def test_the_main_arm_comes_first_and_the_controls_last(tmp_path: Path):
    text = '[suite]\nmain_arm = "b"\ncontrols = ["lr_zero", "random_reward"]\n[arms.a]\n[arms.b]\n[arms.c]\n'
    assert list(suite(tmp_path, text).arms) == ["b", "a", "c", "lr_zero", "random_reward"]


def test_controls_repeat_the_main_arm_and_an_arm_of_their_name_changes_them(tmp_path: Path):
    found = suite(
        tmp_path,
        '[suite]\ncontrols = ["random_reward"]\n[arms.ppo]\nrun.steps = 7\n[arms.other]\n'
        "[arms.random_reward]\ntask.verifier_options.probability = 0.25\n",
    )
    control = found.arms["random_reward"]
    assert control.run.steps == 7
    assert (control.task.verifier, control.task.verifier_options) == ("random", {"probability": 0.25})


def test_the_own_verifier_is_asked_for_where_the_shuffled_reward_needs_it(tmp_path: Path):
    text = '[suite]\ncontrols = ["shuffled_reward"]\n[arms.ppo]\n'
    options = suite(tmp_path, text, numeric).arms["shuffled_reward"].task.verifier_options
    assert options == {"verifier": "numeric", "options": {}}


def test_every_mistake_is_reported_at_once_with_its_place_and_key(tmp_path: Path):
    found = mistakes(
        tmp_path,
        '[suite]\nsedes = [1]\nseeds = [-1, "x"]\ncontrols = ["random"]\nthreshold = 3\n[bse]\n'
        "[base]\nrun.steps = -3\nrun.seed = 4\n"
        '[arms.ppo]\n[arms.grpo]\nalgorithm.preset = "grpo"\n[arms.lr_zero]\n[arms."a b"]\n',
    )
    assert found == [
        'my.toml: suite.seeds: got [-1, "x"]; must be a list of one or more different integers, at least 0 and below '
        "2**32",
        'my.toml: suite.controls: got ["random"]; must be a list of "random_reward", "shuffled_reward", "format_only", '
        '"lr_zero"',
        "my.toml: suite.threshold: got 3; must be a number, at least 0 and at most 1; may be absent",
        "my.toml: suite.sedes: unknown key; did you mean suite.seeds?",
        "my.toml: bse: unknown key; did you mean base?",
        'my.toml: arms.lr_zero: changes a control that is not in suite.controls; add "lr_zero" there',
        'my.toml: arms: "a b" cannot be an arm; take another name of letters, digits and _ . + = -',
        "my.toml: base.run.seed: is the bench's own to set; set suite.seeds",
        "my.toml, base: run.steps: got -3; must be an integer, at least 0",
        'my.toml, arms.grpo, preset "grpo": rollout.samples_per_prompt: 1 is too few: algorithm.advantage = '
        '"group_normalized" compares responses to the same problem; set it to 2 or more',
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "my.toml: arms: there is none; write a table such as [arms.ppo], which may be empty"),
        ("arms = 3\n", "my.toml: arms: got 3; must be a table of tables, one for each arm"),
        ('[suite]\nmain_arm = "b"\n[arms.a]\n', 'my.toml: suite.main_arm: no arm is named "b"; there are a'),
        ("[suite]\nseeds = [1, 1]\n[arms.a]\n", "my.toml: suite.seeds: got [1, 1]; must name each once"),
        ("[suite]\nseeds = []\n[arms.a]\n", "my.toml: suite.seeds: got []; must be a list of one or more different"),
        ('[suite]\nname = "a/b"\n[arms.a]\n', 'my.toml: suite.name: "a/b" must be a plain folder name'),
        ('[suite]\nconfig = "no.toml"\n[arms.a]\n', "no.toml: no such file"),
        ("[arms.warm_starts]\n", 'my.toml: arms: "warm_starts" cannot be an arm'),
        ("[arms.a]\nrun.name = 'x'\n", "my.toml: arms.a.run.name: is the bench's own to set; give --out"),
        ("[arms.a\n", "my.toml, line 1: not TOML"),
    ],
)
def test_a_suite_that_cannot_be_says_why(tmp_path: Path, text: str, expected: str):
    assert mistakes(tmp_path, text)[0].startswith(expected)


def test_a_mistake_in_a_controls_own_table_is_reported_there(tmp_path: Path):
    text = '[suite]\ncontrols = ["lr_zero"]\n[arms.ppo]\n[arms.lr_zero]\noptimizer.beta1 = 2.0\n'
    assert mistakes(tmp_path, text) == [
        "my.toml, arms.lr_zero: optimizer.beta1: got 2.0; must be a number, at least 0 and below 1"
    ]


@pytest.mark.parametrize(
    "change", ['task.verifier = "exact"', "evaluation.problems = 7", "task.options.digits = 2"]
)  # fmt: skip
def test_arms_that_are_measured_in_another_way_are_refused(tmp_path: Path, change: str):
    (found,) = mistakes(tmp_path, f"[arms.ppo]\n[arms.other]\n{change}\n")
    assert found.startswith("my.toml: arms.other: ")
    assert "held-out responses must be judged alike to be compared" in found


def test_an_arm_with_another_reward_is_fine_where_the_base_says_who_judges_held_out_responses(tmp_path: Path):
    text = '[base]\nevaluation.verifier = "task"\n[arms.ppo]\n[arms.other]\ntask.verifier = "exact"\n'
    assert suite(tmp_path, text).arms["other"].task.verifier == "exact"
