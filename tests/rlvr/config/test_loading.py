from pathlib import Path

import pytest

from rlvr.algorithms.presets import PRESETS
from rlvr.config.loading import load_config
from rlvr.config.models import Config
from rlvr.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    path = folder / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes(path: Path | None, overrides: list[str]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    return str(caught.value).splitlines()


def test_without_file_and_overrides_everything_is_the_default():
    assert load_config(None, []) == Config()


def test_the_command_line_wins_over_the_file_and_a_later_override_over_an_earlier(tmp_path: Path):
    path = write(tmp_path, "[run]\nseed = 1\nsteps = 7\n")
    config = load_config(path, ["run.seed=2", "run.seed=3"])
    assert (config.run.seed, config.run.steps) == (3, 7)


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("run.name=demo", "demo"),
        ('run.name="demo"', "demo"),
        ("run.name='demo'", "demo"),
        ("run.name=2026-11-30", "2026-11-30"),
        ("run.name=7", "7"),
        ("run.name=true", "true"),
        ("run.name=inf", "inf"),
        ("run.name=", ""),
        (" run.name = demo ", "demo"),
    ],
)
def test_a_key_that_holds_text_takes_the_text_as_typed(override: str, value: str):
    assert load_config(None, [override]).run.name == value


def test_text_may_contain_an_equals_sign():
    assert load_config(None, ["model.name=runs/lr=3/model"]).model.name == "runs/lr=3/model"


def test_a_line_break_in_an_override_cannot_bring_in_other_keys():
    assert load_config(None, ["model.name=1\nother = 2"]).model.name == "1\nother = 2"


def test_an_integer_is_good_enough_for_a_number():
    assert load_config(None, ["algorithm.kl_coef=1"]).algorithm.kl_coef == 1.0


def test_task_options_are_free_and_keep_their_toml_types():
    overrides = ["task.options.digits=3", "task.options.path=data/x.jsonl", "task.options.columns.question=q"]
    assert load_config(None, overrides).task.options == {
        "digits": 3,
        "path": "data/x.jsonl",
        "columns": {"question": "q"},
    }


def test_an_option_on_the_command_line_joins_those_of_the_file(tmp_path: Path):
    path = write(tmp_path, "[task.options]\ndigits = 2\nterms = 2\n")
    assert load_config(path, ["task.options.digits=3"]).task.options == {"digits": 3, "terms": 2}


def test_a_whole_table_of_options_replaces_the_one_before(tmp_path: Path):
    path = write(tmp_path, "[task.options]\ndigits = 2\n")
    assert load_config(path, ["task.options={terms=3}"]).task.options == {"terms": 3}


def test_a_section_can_be_given_as_an_inline_table_and_keeps_its_other_keys():
    run = load_config(None, ["run.seed=1", "run={steps=2}"]).run
    assert (run.seed, run.steps) == (1, 2)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fills_what_is_not_set(preset: str):
    config = load_config(None, [f"algorithm.preset={preset}", "rollout.samples_per_prompt=4"])
    expected = {**Config().algorithm.model_dump(), "preset": preset, **PRESETS[preset]}
    assert config.algorithm.model_dump() == expected


def test_what_is_set_wins_over_the_preset_wherever_it_is_set(tmp_path: Path):
    path = write(tmp_path, '[algorithm]\nkl_coef = 0.5\npreset = "grpo"\n')
    algorithm = load_config(path, ["algorithm.epochs=3", "rollout.samples_per_prompt=4"]).algorithm
    assert (algorithm.kl_coef, algorithm.epochs) == (0.5, 3)
    assert algorithm.advantage == "group_normalized"


def test_every_mistake_is_reported_at_once_each_with_where_it_was_made(tmp_path: Path):
    path = write(tmp_path, "[run]\nsteps = -1\n[algorithm]\nkl_coeff = 0.1\nminibatches = 3\n")
    assert mistakes(path, ["run.seed=x", "critic.kind=none"]) == [
        f"{path}: algorithm.kl_coeff: unknown key; did you mean algorithm.kl_coef?",
        f"{path}: run.steps: got -1; must be an integer, at least 0",
        'command line: run.seed: got "x"; must be an integer, at least 0 and below 4294967296',
        'command line: critic.kind: got "none"; must be "shared" or "separate"',
        f"{path}: algorithm.minibatches: 3 does not divide the 512 rollouts of a step (rollout.prompts_per_step 512 "
        "x rollout.samples_per_prompt 1); set it to 2 or 4, or rollout.prompts_per_step to 510 or 513",
    ]


@pytest.mark.parametrize("misplaced", ["kl_coeff", "algorithm.kl_coeff", "optimizer.kl_coeff", "algo.kl_coef"])
def test_a_typo_at_any_place_is_told_the_nearest_key(misplaced: str):
    (line,) = mistakes(None, [f"{misplaced}=0.1"])
    assert line == f"command line: {misplaced}: unknown key; did you mean algorithm.kl_coef?"


def test_a_name_like_no_other_is_told_how_to_list_the_keys():
    (line,) = mistakes(None, ["zzz.qqq=1"])
    assert line == "command line: zzz.qqq: unknown key; `rlvr config` prints every key"


def test_true_is_not_taken_for_a_number_nor_a_number_for_an_integer():
    assert mistakes(None, ["run.steps=true", "run.seed=1.0", "algorithm.gamma=true"]) == [
        "command line: run.steps: got true; must be an integer, at least 0",
        "command line: run.seed: got 1.0; must be an integer, at least 0 and below 4294967296",
        "command line: algorithm.gamma: got true; must be a number, at least 0 and at most 1",
    ]


def test_infinity_is_no_learning_rate():
    (line,) = mistakes(None, ["optimizer.lr=inf"])
    assert line == "command line: optimizer.lr: got inf; must be a number, at least 0"


def test_a_section_given_a_value_is_told_its_keys(tmp_path: Path):
    path = write(tmp_path, 'task = "gsm8k"\n')
    (line,) = mistakes(path, [])
    assert line.startswith(f'{path}: task: got "gsm8k", but it is a table; set one of task.name, task.verifier')


def test_a_key_below_a_value_is_refused():
    (line,) = mistakes(None, ["run.steps.more=1"])
    assert line.startswith("command line: run.steps.more: unknown key; run.steps holds an integer")


def test_a_toml_syntax_error_names_file_and_line_beside_the_other_mistakes(tmp_path: Path):
    path = write(tmp_path, "[run]\nseed = 1\nsteps =\n")
    first, second = mistakes(path, ["run.seed=x", "algorithm.minibatches=3"])
    assert first.startswith(f"{path}, line 3: not TOML: ")
    assert second.startswith('command line: run.seed: got "x"')


def test_an_unclosed_string_is_placed_at_the_last_line(tmp_path: Path):
    path = write(tmp_path, '[run]\nname = """a\nb\n')
    (line,) = mistakes(path, [])
    assert line.startswith(f"{path}, line 3: not TOML: ")


def test_a_missing_file_a_folder_and_a_binary_file_are_named(tmp_path: Path):
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    assert mistakes(tmp_path / "no.toml", []) == [f"{tmp_path / 'no.toml'}: no such file"]
    assert mistakes(tmp_path, []) == [f"{tmp_path}: cannot be read: Is a directory"]
    assert mistakes(binary, []) == [f"{binary}: byte 0 is not UTF-8, the encoding of TOML"]


def test_an_override_that_is_none_is_named():
    assert mistakes(None, ["seed", "other.toml", "run..seed=1", "run.dir=[1", "=3"]) == [
        'command line: "seed" is neither a .toml file nor key=value',
        'command line: "other.toml" is a second configuration file',
        'command line: "run..seed" is not a dotted key such as run.seed',
        "command line: run.dir: got [1, which is not TOML: Unclosed array (at end of document)",
        'command line: "" is not a dotted key such as run.seed',
    ]


def test_a_wrong_value_is_not_reported_a_second_time_by_the_rules_that_read_it():
    lines = mistakes(None, ["algorithm.preset=grppo", "algorithm.kl_in=loss"])
    assert len(lines) == 1
    assert lines[0].startswith('command line: algorithm.preset: got "grppo"; must be "ppo", "grpo"')


def test_a_conflict_with_a_preset_says_where_the_preset_was_chosen(tmp_path: Path):
    path = write(tmp_path, '[algorithm]\npreset = "rloo"\n')
    (line,) = mistakes(path, [])
    assert line.startswith(f'{path}, preset "rloo": rollout.samples_per_prompt: 1 is too few')


def test_tables_lie_over_the_file_and_under_the_command_line_and_their_mistakes_say_where(tmp_path: Path):
    path = write(tmp_path, "[run]\nseed = 1\nsteps = 1\nthreads = 1\n")
    tables = [("base", {"run": {"seed": 2, "steps": 2}}), ("arm", {"run": {"seed": 3}})]
    config = load_config(path, ["run.seed=4"], tables=tables)
    assert (config.run.seed, config.run.steps, config.run.threads) == (4, 2, 1)
    with pytest.raises(ConfigError, match=r"^arm: run\.seed: got -1; must be an integer, at least 0"):
        load_config(path, [], tables=[*tables, ("arm", {"run": {"seed": -1}})])
