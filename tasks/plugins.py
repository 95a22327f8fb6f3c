"""Finding things by name: built in, registered by a user's file, or installed by another distribution.

Tasks and verifiers keep one `Registry` each.
"""

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from tasks.errors import TaskPluginError
from tasks.options import did_you_mean, option_mistakes

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Factory = TypeVar("Factory", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True, slots=True)
class RegistryErrors:
    """What a registry raises."""

    unknown: type[Exception]
    name_taken: type[Exception]
    plugin: type[Exception]
    option: type[Exception]


class Registry:
    """Names and the factories behind them.

    A factory is a class or function whose keyword parameters are its options.

    Args:
        noun: what the registry holds, for instance "task".
        built_in: "module:attribute" of each built-in factory; imported when it is asked for.
        entry_point_group: where installed distributions announce theirs.
        options_key: dotted name of the options in a configuration, for messages.
        contract: what a factory must make, a class or a runtime-checkable Protocol.
        errors: the exceptions to raise.
    """

    def __init__(
        self,
        *,
        noun: str,
        built_in: Mapping[str, str],
        entry_point_group: str,
        options_key: str,
        contract: Any,
        errors: RegistryErrors,
    ) -> None:
        self._noun = noun
        self._built_in = built_in
        self._entry_point_group = entry_point_group
        self._options_key = options_key
        self._contract = contract
        self._errors = errors
        self._registered: dict[str, Callable[..., Any]] = {}

    def register(self, name: str) -> Callable[[Factory], Factory]:
        """Return a decorator that gives a factory the name `name`.

        Raises the registry's name_taken error if the name is in use.
        """
        if not isinstance(name, str) or not name.strip():
            raise self._errors.plugin(
                f'register a {self._noun} with a name, as in @register_{self._noun}("mine"), not {name!r}'
            )
        owners = self._owners(name)
        if owners:
            raise self._errors.name_taken(
                f"cannot register a {self._noun} named {name!r}: taken by {owners[0]}; choose another name"
            )

        def remember(factory: Factory) -> Factory:
            self._registered[name] = factory
            return factory

        return remember

    def names(self) -> list[str]:
        """Return every known name, sorted."""
        return sorted({*self._built_in, *self._registered, *(entry.name for entry in self._entry_points())})

    def load(self, name: str, options: Mapping[str, object]) -> Any:
        """Make what is called `name` with `options`.

        Raises the registry's unknown, name_taken, plugin or option error; of the last, one line for each mistake.
        """
        factory = self._factory(name)
        owner = f"{self._noun} {name!r}"
        mistakes = option_mistakes(factory, options, owner=owner, key=self._options_key)
        if mistakes:
            raise self._errors.option("\n".join(mistakes))
        made = factory(**options)
        if not isinstance(made, self._contract):
            raise self._errors.plugin(
                f"{owner} made a {type(made).__name__}, which is not a {self._contract.__name__}: "
                f"see {self._contract.__module__}.{self._contract.__name__} for what it must have"
            )
        return made

    def _factory(self, name: str) -> Callable[..., Any]:
        owners = self._owners(name)
        if not owners:
            known = self.names()
            raise self._errors.unknown(
                f"no {self._noun} named {name!r}{did_you_mean(name, known)}; known: {', '.join(known)}"
                " (one of your own comes from a file given by --plugin)"
            )
        if len(owners) > 1:
            raise self._errors.name_taken(
                f"the {self._noun} name {name!r} belongs to {' and to '.join(owners)}; rename or uninstall one of them"
            )
        if name in self._registered:
            return self._registered[name]
        if name in self._built_in:
            module, _, attribute = self._built_in[name].partition(":")
            return getattr(importlib.import_module(module), attribute)
        return self._load_entry_point(next(entry for entry in self._entry_points() if entry.name == name))

    def _owners(self, name: str) -> list[str]:
        owners = [f"the built-in {self._noun}"] if name in self._built_in else []
        if name in self._registered:
            owners.append(f"{self._registered[name].__module__}.{self._registered[name].__qualname__}")
        owners += [_origin(entry) for entry in self._entry_points() if entry.name == name]
        return owners

    def _entry_points(self) -> "list[EntryPoint]":
        # Half of this module's import time, and needed only once a name is looked up.
        from importlib.metadata import entry_points

        return list(entry_points(group=self._entry_point_group))

    def _load_entry_point(self, entry: "EntryPoint") -> Callable[..., Any]:
        try:
            factory = entry.load()
        except Exception as error:
            raise self._errors.plugin(
                f"{self._noun} {entry.name!r} of {_origin(entry)} cannot be imported: {type(error).__name__}: {error}"
            ) from error
        if not callable(factory):
            raise self._errors.plugin(
                f"{self._noun} {entry.name!r} of {_origin(entry)} is not a class or function but {factory!r}"
            )
        return factory


def _origin(entry: "EntryPoint") -> str:
    distribution = f"the installed distribution {entry.dist.name!r}" if entry.dist else "an installed distribution"
    return f"{distribution} ({entry.value})"


def import_plugin_file(path: str | Path) -> ModuleType:
    """Import a user's Python file, so that its @register_task and @register_verifier take effect.

    The same file is imported once. What the file itself raises passes through with its own traceback.

    Raises:
        TaskPluginError: there is no such file, or it is no Python file.
    """
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise TaskPluginError(f"plug-in file {path}: no such file")
    if file.suffix != ".py":
        raise TaskPluginError(f"plug-in file {path}: a plug-in is a Python file, its name ends in .py")
    # Two files of one name must not become one module.
    name = (
        f"plugin_{hashlib.blake2b(str(file).encode(errors='surrogateescape'), digest_size=4).hexdigest()}_{file.stem}"
    )
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before the run: dataclasses and pickle look modules up here
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
