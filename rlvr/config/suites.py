"""A suite: one task, several arms and seeds, and the control arms that say what a gain is worth."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, ValidationError

from rlvr.config.controls import CONTROLS, Control, control_tables, held_out_judge
from rlvr.config.document import toml_value
from rlvr.config.loading import load_config, toml_document
from rlvr.config.models import Config, Fraction, Section
from rlvr.errors import ConfigError

WARM_STARTS = "warm_starts"
"""Name of the folder beside those of the arms."""

OwnVerifier: TypeAlias = Callable[[Config], str]
"""Tells the name of the verifier that a configuration's task names for its problems."""

_NAME = r"\w[\w.+=-]{0,99}"
_OF_THE_SUITE = ("seed", "name", "dir")


class SuiteTable(Section):
    """What is common to all arms."""

    name: str = Field(default="", description='"" takes the name of the file.')
    config: str | None = Field(default=None, description="A configuration file below [base], seen from the suite's.")
    seeds: list[Annotated[int, Field(ge=0, lt=2**32)]] = Field(default_factory=lambda: [0, 1, 2], min_length=1)
    main_arm: str | None = Field(
        default=None,
        description="The arm that controls repeat with another reward and all are compared with; absent: the first.",
    )
    controls: list[Control] = Field(default_factory=list)
    threshold: Fraction | None = Field(
        default=None,
        description="Greedy held-out pass rate whose first reaching is reported; absent: half of the main arm's gain.",
    )


class SuiteFile(Section):
    """SUITE.toml as it is written."""

    suite: SuiteTable = Field(default_factory=SuiteTable)
    base: dict[str, Any] = Field(default_factory=dict, description="Tables of a configuration, for all arms.")
    arms: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Tables of a configuration by arm; those named as a control change that one."
    )


_ALLOWED = {
    "suite": "a table",
    "suite.name": "a string",
    "suite.config": "a string; may be absent",
    "suite.seeds": "a list of one or more different integers, at least 0 and below 2**32",
    "suite.main_arm": "a string; may be absent",
    "suite.controls": f"a list of {', '.join(toml_value(name) for name in CONTROLS)}",
    "suite.threshold": "a number, at least 0 and at most 1; may be absent",
    "base": "a table",
    "arms": "a table of tables, one for each arm",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """A suite whose configurations have been checked."""

    name: str
    seeds: tuple[int, ...]
    main_arm: str
    controls: tuple[Control, ...]
    threshold: float | None
    arms: Mapping[str, Config]
    """The main arm first, then the others as written, then the controls; run.seed, run.name and run.dir are not set."""


def load_suite(path: Path, own_verifier: OwnVerifier) -> Suite:
    """Return the suite of a TOML file.

    Args:
        own_verifier: asked only for the control shuffled_reward, where no task.verifier is set.

    Raises:
        ConfigError: one line for each mistake: where it was made, the key, what was given and what is allowed.
    """
    mistakes: list[str] = []
    file = _validated(toml_document(path), str(path), mistakes)
    mistakes += [f"{path}: {mistake}" for mistake in _mistakes(file)]
    real = [name for name in file.arms if name not in CONTROLS]
    main = file.suite.main_arm or next(iter(real), "")
    name = file.suite.name or path.stem
    if not re.fullmatch(_NAME, name):
        mistakes.append(f'{path}: suite.name: "{name}" must be a plain folder name: letters, digits and _ . + = -')
    if mistakes and main not in real:
        raise ConfigError("\n".join(mistakes))
    arms: dict[str, Config] = {}
    for arm in [main, *(other for other in real if other != main), *file.suite.controls]:
        try:
            arms[arm] = _arm(file, path, arm, arms.get(main), main, own_verifier)
        except ConfigError as error:
            mistakes += str(error).splitlines()
            if arm == main:
                arms = {}
    if main in arms:
        mistakes += [f"{path}: {mistake}" for mistake in _unlike(arms, main)]
    if mistakes:
        raise ConfigError("\n".join(dict.fromkeys(mistakes)))
    return Suite(
        name=name,
        seeds=tuple(file.suite.seeds),
        main_arm=main,
        controls=tuple(file.suite.controls),
        threshold=file.suite.threshold,
        arms=arms,
    )


def _arm(file: SuiteFile, path: Path, arm: str, main: Config | None, main_name: str, own: OwnVerifier) -> Config:
    tables: list[tuple[str, Mapping[str, Any]]] = [
        (f"{path}, base", file.base),
        (f"{path}, arms.{main_name}", file.arms[main_name]),
    ]
    if arm in CONTROLS:
        # Without a main arm its mistakes are reported, and what the control would make of it is unknown.
        if main is not None:
            tables.append((f"{path}, control {arm}", control_tables(arm, main, own)))
        tables.append((f"{path}, arms.{arm}", file.arms.get(arm, {})))
    elif arm != main_name:
        tables[1] = (f"{path}, arms.{arm}", file.arms[arm])
    below = file.suite.config
    return load_config(None if below is None else path.parent / below, [], tables=tables)


def _validated(document: dict[str, Any], source: str, mistakes: list[str]) -> SuiteFile:
    """Return the file; what is refused is reported and left out."""
    try:
        return SuiteFile.model_validate(document)
    except ValidationError as error:
        details = error.errors()
    for detail in details:
        place = tuple(str(part) for part in detail["loc"][:2])
        name, table = ".".join(place), document
        for part in place[:-1]:
            table = table[part]
        if place[-1] not in table:
            continue  # another entry of the same list was reported before
        value = table.pop(place[-1])
        if detail["type"] == "extra_forbidden":
            close = difflib.get_close_matches(name, _ALLOWED, n=1)
            advice = f"did you mean {close[0]}?" if close else "a suite has the tables suite, base and arms.NAME"
            mistakes.append(f"{source}: {name}: unknown key; {advice}")
        else:
            allowed = _ALLOWED.get(name, "a table of configuration keys")
            mistakes.append(f"{source}: {name}: got {toml_value(value)}; must be {allowed}")
    return SuiteFile.model_validate(document)


def _mistakes(file: SuiteFile) -> Iterator[str]:
    suite = file.suite
    for key, values in (("seeds", suite.seeds), ("controls", suite.controls)):
        if len(set(values)) < len(values):
            yield f"suite.{key}: got {toml_value(values)}; must name each once"
    real = [name for name in file.arms if name not in CONTROLS]
    if not real:
        yield "arms: there is none; write a table such as [arms.ppo], which may be empty"
    if suite.main_arm is not None and suite.main_arm not in real:
        yield f'suite.main_arm: no arm is named "{suite.main_arm}"; there are {", ".join(real) or "none"}'
    for arm in file.arms:
        if arm in CONTROLS and arm not in suite.controls:
            yield f'arms.{arm}: changes a control that is not in suite.controls; add "{arm}" there'
        elif arm == WARM_STARTS or not re.fullmatch(_NAME, arm):
            yield f'arms: "{arm}" cannot be an arm; take another name of letters, digits and _ . + = -'
    for name, table in [("base", file.base), *((f"arms.{arm}", table) for arm, table in file.arms.items())]:
        run = table.get("run")
        for key in [key for key in _OF_THE_SUITE if isinstance(run, dict) and key in run]:
            cure = "set suite.seeds" if key == "seed" else "give --out"
            yield f"{name}.run.{key}: is the bench's own to set; {cure}"


def _unlike(arms: Mapping[str, Config], main: str) -> Iterator[str]:
    """Yield where an arm is measured in another way than the main one, so that the two cannot be compared."""

    def measured(config: Config) -> dict[str, Any]:
        judge, options = held_out_judge(config)
        evaluation = config.evaluation
        return {
            "task.name": config.task.name,
            "task.options": config.task.options,
            "evaluation.split": evaluation.split,
            "evaluation.problems": evaluation.problems,
            "evaluation.samples_per_problem": evaluation.samples_per_problem,
            "evaluation.verifier": judge,
            "evaluation.verifier_options": options,
        }

    wanted = measured(arms[main])
    for arm, config in arms.items():
        for key, value in measured(config).items():
            if value != wanted[key]:
                yield (
                    f"arms.{arm}: {key} is {toml_value(value)}, and {toml_value(wanted[key])} in arms.{main}: "
                    f"held-out responses must be judged alike to be compared; set {key} in [base] alone"
                )
