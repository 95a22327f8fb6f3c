"""What test code sees of the program: plain results as plain values, all else as proxies that ask for each thing.

An operator between a proxy and a plain value is refused: the program would see the value and decide about it, and an
object that equals everything would pass every test.
"""

import builtins
import sys
from collections.abc import Callable, Generator
from types import ModuleType
from typing import Any

from verifiers.code.inside.link import RefusedError


class Proxy:
    """An object of the program."""

    __slots__ = ("__weakref__", "_rlvr_number", "_rlvr_request")

    def __init__(self, request: Callable[..., Any], number: int) -> None:
        object.__setattr__(self, "_rlvr_request", request)
        object.__setattr__(self, "_rlvr_number", number)

    def __getattr__(self, name: str) -> Any:
        return self._rlvr_request("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._rlvr_request("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._rlvr_request("delattr", self, name)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._rlvr_request("call", self, *arguments, **keywords)

    def __instancecheck__(self, instance: Any) -> bool:
        return bool(self._rlvr_request("isinstance", instance, self))

    def __subclasscheck__(self, subclass: Any) -> bool:
        return bool(self._rlvr_request("issubclass", subclass, self))

    def __enter__(self) -> Any:
        return self._rlvr_request("enter", self)

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> Any:
        return self._rlvr_request("exit", self, error)

    def __repr__(self) -> str:
        return _exactly(str, self._rlvr_request("repr", self))


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise RefusedError(f"an object of the program gave no {kind.__name__} where one must be")
    return value


def _forward(name: str, kind: type | None) -> Callable[..., Any]:
    def method(self: Proxy, *arguments: Any) -> Any:
        value = self._rlvr_request(name, self, *arguments)
        return value if kind is None else _exactly(kind, value)

    return method


def _operator(name: str, sign: str) -> Callable[[Proxy, object], Any]:
    def method(self: Proxy, other: object) -> Any:
        if isinstance(other, Proxy):
            return self._rlvr_request(name, self, other)
        if other is None and name in ("eq", "ne"):
            return name == "ne"
        raise RefusedError(f"{sign} between an object of the program and a plain {type(other).__name__}")

    return method


def _reflected(sign: str) -> Callable[[Proxy, object], Any]:
    def method(self: Proxy, other: object) -> Any:
        raise RefusedError(f"{sign} between a plain {type(other).__name__} and an object of the program")

    return method


_FORWARDED: dict[str, type | None] = {
    **dict.fromkeys(("iter", "next", "reversed", "getitem", "setitem", "delitem", "neg", "pos", "abs", "round")),
    "len": int,
    "contains": bool,
    "bool": bool,
    "str": str,
    "hash": int,
    "format": str,
    "dir": list,
    "int": int,
    "float": float,
    "complex": complex,
    "bytes": bytes,
    "invert": None,
}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "matmul": "@",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
setattr(Proxy, "__doc__", property(lambda self: self._rlvr_request("getattr", self, "__doc__")))  # noqa: B010
for _name, _kind in _FORWARDED.items():
    setattr(Proxy, f"__{_name}__", _forward(_name, _kind))
for _name, _sign in (_COMPARISONS | _BINARY).items():
    setattr(Proxy, f"__{_name}__", _operator(f"{_name}_" if _name in ("and", "or") else _name, _sign))
for _name, _sign in _BINARY.items():
    setattr(Proxy, f"__r{_name}__", _reflected(_sign))


class SolutionModule(ModuleType):
    """The program as a module: `import solution` and `from solution import name` in test code."""

    def __init__(self, name: str, proxy: Proxy) -> None:
        super().__init__(name)
        object.__setattr__(self, "_rlvr_proxy", proxy)

    def __getattr__(self, name: str) -> Any:
        proxy = object.__getattribute__(self, "_rlvr_proxy")
        if name != "__all__":
            return getattr(proxy, name)
        # `from solution import *` must not put other things in the place of what tests are made of.
        names = [name for name in proxy._rlvr_request("names", proxy) if not hasattr(builtins, name)]
        own = sys.stdlib_module_names | {"pytest"}
        return [name for name in names if name not in own or isinstance(getattr(proxy, name), ModuleType)]

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_rlvr_proxy"), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(object.__getattribute__(self, "_rlvr_proxy"), name)


def generator_of(proxy: Proxy) -> Generator[Any, Any, Any]:
    """Return a real generator that asks the program's for each element."""
    sent = None
    try:
        while True:
            try:
                value = proxy._rlvr_request("send", proxy, sent)
            except StopIteration as stop:
                return stop.value
            sent = yield value
    except GeneratorExit:
        proxy._rlvr_request("close", proxy)
        raise


async def coroutine_of(proxy: Proxy) -> Any:
    """Return what the program's coroutine returns, which runs to its end there without a pause here."""
    return proxy._rlvr_request("run", proxy)


class _MirrorClass(type):
    """Classes that stand for exception classes of the program; attributes they lack are asked for there."""

    _rlvr_proxy: Proxy

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_rlvr"):
            raise AttributeError(name)
        return getattr(cls._rlvr_proxy, name)


class _Mirror:
    """What those classes have in common."""

    _rlvr_instance: Proxy | None = None
    _rlvr_text: str | None = None

    def __getattr__(self, name: str) -> Any:
        if self._rlvr_instance is None:
            raise AttributeError(name)
        return getattr(self._rlvr_instance, name)

    def __str__(self) -> str:
        return super().__str__() if self._rlvr_text is None else self._rlvr_text


def mirror_class(name: str, bases: list[type[BaseException]], proxy: Proxy) -> type[BaseException]:
    """Return an exception class that stands for the program's class behind `proxy`, and derives from `bases`."""
    namespace = {"_rlvr_proxy": proxy, "__module__": "solution"}
    for chosen in (bases, [Exception]):
        mixed = chosen if any(issubclass(base, _Mirror) for base in chosen) else [_Mirror, *chosen]
        try:
            return _MirrorClass(name, tuple(mixed), namespace)  # pyright: ignore[reportReturnType]
        except TypeError:
            continue  # the program's classes have bases that no class here can have together
    raise AssertionError("Exception can always be derived from")
