import tomllib
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr.config.document import annotated_toml, toml_value
from rlvr.config.keys import keys
from rlvr.config.loading import load_config
from rlvr.config.models import Config

scalars = st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
configs = st.builds(
    lambda run, model, task, optimizer, reward: Config.model_validate(
        {"run": run, "model": model, "task": task, "optimizer": optimizer, "reward": reward}
    ),
    run=st.fixed_dictionaries({}, optional={"dir": st.text(), "seed": st.integers(0, 2**32 - 1)}),
    model=st.fixed_dictionaries({}, optional={"name": st.text(min_size=1), "system_prompt": st.text()}),
    task=st.fixed_dictionaries(
        {}, optional={"verifier": st.text(), "options": st.dictionaries(st.text(), values, max_size=3)}
    ),
    optimizer=st.fixed_dictionaries(
        {}, optional={"lr": st.floats(1e-300, 1e300), "eps": st.floats(1e-300, 1), "beta1": st.floats(0, 0.999)}
    ),
    reward=st.fixed_dictionaries({}, optional={"incorrect": st.floats(-1e9, 0.5), "no_answer": st.floats(-1e9, 1e9)}),
)


def test_the_default_document_reads_back_as_the_defaults():
    assert Config.model_validate(tomllib.loads(annotated_toml(Config()))) == Config()


@settings(max_examples=60, deadline=None)
@given(config=configs)
def test_any_configuration_reads_back_exactly(config: Config):
    assert Config.model_validate(tomllib.loads(annotated_toml(config))) == config


def test_a_stored_configuration_loads_as_itself_whatever_its_preset(tmp_path: Path):
    overrides = ["algorithm.preset=grpo", "rollout.samples_per_prompt=4", "algorithm.kl_coef=0.1", "task.options.n=1"]
    config = load_config(None, overrides)
    path = tmp_path / "config.toml"
    path.write_text(annotated_toml(config), encoding="utf-8")
    assert load_config(path, []) == config


@given(value=values | st.dates() | st.times() | st.datetimes())
def test_any_toml_value_reads_back_exactly(value: object):
    assert tomllib.loads(f"value = {toml_value(value)}") == {"value": value}


def test_dates_keep_their_kind_and_their_offset():
    moment = datetime(2026, 11, 30, 12, 5, tzinfo=timezone(timedelta(hours=2)))
    for value in (date(2026, 11, 30), time(7, 30), moment):
        assert tomllib.loads(f"value = {toml_value(value)}") == {"value": value}


def test_what_toml_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="NoneType"):
        toml_value({"a": None})


def test_every_key_stands_under_its_meaning_and_its_allowed_values():
    text = annotated_toml(Config())
    flowing = " ".join(line.removeprefix("# ") for line in text.splitlines())
    for key in keys().values():
        _, _, field = key.name.partition(".")
        assert f"{key.description} ({key.allowed}) {field} =" in flowing


def test_a_key_without_a_value_is_a_comment():
    lines = annotated_toml(Config()).splitlines()
    assert "# verifier =" in lines
    assert 'verifier = "exact"' in annotated_toml(load_config(None, ["task.verifier=exact"])).splitlines()
