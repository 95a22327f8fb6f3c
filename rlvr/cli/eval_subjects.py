"""What `rlvr eval` measures: a model in this process, or one behind an endpoint."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from rlvr.cli import wiring
from rlvr.cli.arguments import run_configuration
from rlvr.config.loading import load_config
from rlvr.config.models import Config
from rlvr.errors import ConfigError, RunFolderError
from rlvr.evaluation.endpoint import Endpoint, EndpointSource, Usage, served_models
from rlvr.evaluation.sources import PROBLEMS_AT_ONCE, EngineSource, ResponseSource
from rlvr.models.digest import model_digest
from rlvr.models.loading import LoadedModel
from rlvr.models.reference import weights_digest
from rlvr.tracking.run_folder import RunFolder, complete_checkpoints


class Subject(Protocol):
    """A model that can be measured."""

    title: str
    short_name: str
    digest: str
    """Equal digests mean equal models."""

    def identity(self) -> dict[str, Any]:
        """Return what decides its answers, besides problems, sampling and seeds."""
        ...

    def facts(self) -> dict[str, Any]:
        """Return what else evaluation.json says about it."""
        ...

    def usage(self) -> Usage | None:
        """Return what it has cost so far, where it costs."""
        ...

    def responses(self) -> AbstractContextManager[ResponseSource]:
        """Make it answer problems, for as long as the context lasts."""
        ...


class LocalModel:
    """A model that transformers runs here; loaded when it is needed.

    Raises:
        ModelError: it has to be loaded to be told apart from others, and cannot be.
    """

    def __init__(self, config: Config, name: str) -> None:
        self.title = name
        self.short_name = _short_name(name)
        self._config = config
        self._name = name
        self._loaded: LoadedModel | None = None
        self.digest = model_digest(name) or self._digest_once_loaded()

    def identity(self) -> dict[str, Any]:
        model = self._config.model
        return {
            "model": self.digest,
            "dtype": model.dtype,
            "autocast": model.autocast,
            "device": wiring.device_of(self._config),
            "batch_size": self._config.rollout.batch_size,
            "problems_at_once": PROBLEMS_AT_ONCE,
        }

    def facts(self) -> dict[str, Any]:
        return {}

    def usage(self) -> Usage | None:
        return None

    @contextmanager
    def responses(self) -> Iterator[ResponseSource]:
        loaded = self._load()
        encoder, engine = wiring.build_encoder(self._config, loaded), wiring.build_engine(self._config, loaded)
        yield EngineSource(engine, encoder)

    def _digest_once_loaded(self) -> str:
        policy = self._load().policy
        return model_digest(self._name) or f"weights:{weights_digest(policy)}"

    def _load(self) -> LoadedModel:
        if self._loaded is None:
            self._loaded = wiring.build_model(self._config, self._name)
        return self._loaded


class EndpointModel:
    """A model behind an endpoint.

    Args:
        name: as the server calls it; None takes the only one that it offers.

    Raises:
        EndpointError, ConfigError: no name was given, and the server does not say or has several.
    """

    def __init__(self, endpoint: Endpoint, name: str | None) -> None:
        self._endpoint = endpoint
        self._name = name or _only_model(endpoint)
        self._source: EndpointSource | None = None
        self.title = f"{self._name} at {endpoint.shown_url}"
        self.short_name = _short_name(self._name)
        self.digest = f"endpoint:{endpoint.shown_url} {self._name}"

    def identity(self) -> dict[str, Any]:
        # Not the concurrency: whoever has to lower it half-way goes on with what there is.
        seedless = {} if self._endpoint.sends_seeds else {"seeds": "not sent"}
        return {"model": self.digest, "api": self._api, **seedless}

    def facts(self) -> dict[str, Any]:
        return {"endpoint": {"url": self._endpoint.shown_url, "model": self._name, "api": self._api}}

    def usage(self) -> Usage | None:
        return Usage() if self._source is None else replace(self._source.usage)

    @contextmanager
    def responses(self) -> Iterator[ResponseSource]:
        self._source = EndpointSource(self._endpoint, self._name)
        try:
            yield self._source
        finally:
            self._source.close()

    @property
    def _api(self) -> str:
        return "completions" if self._endpoint.completions else "chat/completions"


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedModel:
    """What MODEL on the command line stands for."""

    name: str
    """What `load_model` takes, or the URL of an endpoint."""
    config: Config
    is_endpoint: bool


def named_model(text: str, path: Path | None, overrides: list[str]) -> NamedModel:
    """Return the model to load and the configuration to judge it under.

    A run folder stands for its latest checkpoint, RUN@<step> for a kept one, RUN@sft for its reference and
    RUN@base for what it started from; they are judged under the run's own configuration unless a file is given.

    Raises:
        ConfigError, RunFolderError: as `load_config`; the run has saved no such model.
    """
    if text.startswith(("http://", "https://")):
        return NamedModel(name=text.rstrip("/"), config=load_config(path, overrides), is_endpoint=True)
    run, at, moment = text.rpartition("@")
    is_moment = moment in ("sft", "base") or moment.isdecimal()
    if at and not Path(text).exists() and (is_moment or (Path(run) / "checkpoints").is_dir()):
        folder = RunFolder.open(Path(run))
        config = load_config(path or folder.config_path, overrides)
        name = config.model.name if moment == "base" else _policy_at(folder, moment)
        return NamedModel(name=name, config=config, is_endpoint=False)
    name, config = run_configuration(text, path, overrides)
    return NamedModel(name=name, config=config, is_endpoint=False)


def endpoint_key(variable: str | None) -> str | None:
    """Return the API key.

    Args:
        variable: environment variable that holds it; None takes OPENAI_API_KEY, which may be absent.

    Raises:
        ConfigError: the variable that was named is not set.
    """
    if variable is None:
        return os.environ.get("OPENAI_API_KEY")
    if not os.environ.get(variable):
        raise ConfigError(f"--api-key-env: the environment has no variable {variable}")
    return os.environ[variable]


def _policy_at(folder: RunFolder, moment: str) -> str:
    saved = {int(path.name.removeprefix("step_")): path for path in complete_checkpoints(folder.checkpoints_dir)}
    if moment.isdecimal() and int(moment) in saved:
        return str(saved[int(moment)] / "policy")
    if moment == "sft" and folder.reference_path.is_dir():
        return str(folder.reference_path)
    kept = [f"@{step}" for step in saved] + ["@sft"] * folder.reference_path.is_dir() + ["@base"]
    raise RunFolderError(
        f"{folder.path} has saved no model @{moment}; it has {', '.join(kept)} "
        "(checkpoint.every and checkpoint.keep say which are kept)"
    )


def _only_model(endpoint: Endpoint) -> str:
    names = served_models(endpoint)
    if len(names) != 1:
        offered = f"offers {', '.join(names[:20])}{', ...' * (len(names) > 20)}" if names else "names no model"
        raise ConfigError(f"{endpoint.shown_url} {offered}; choose one by --endpoint-model NAME")
    return names[0]


def _short_name(name: str) -> str:
    path = Path(name).expanduser()
    parts = path.resolve().parts if path.exists() else path.parts
    match parts:
        case (*_, run, "checkpoints", step, "policy"):
            return f"{run}-{step}"
        case (*_, run, "reference") if (path.parent / "config.toml").is_file():
            return f"{run}-sft"
    return path.stem if path.suffix == ".gguf" else parts[-1]
