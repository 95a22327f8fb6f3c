"""The candidate's side of test code that runs elsewhere: do what the judge asks and answer with data.

Requests come on descriptor 3, a line of JSON each: {"op": name, "args": [...], "kwargs": {...}}. An answer on
descriptor 4 is {"value"}, {"stop"} for an exhausted iterator, {"raised"} or {"unsendable"}, with the arguments that the
call changed in "changed". Before it, {"callback": [object, op], "args", "kwargs"} may ask the judge to do something
with an object of the tests. The first line says how loading the program went.

What has no text stays here and goes by number: {"o": [number, kind, more]}.
"""

import json
import operator
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from verifiers.code.inside.exchange import standard_error, text_of, value_of
from verifiers.code.inside.solution import load_solution
from verifiers.code.inside.wire import UnsendableError, built_in_base, decode, encode, read_json

__builtins__ = dict(vars(__builtins__)) if not isinstance(__builtins__, dict) else dict(__builtins__)

_dumps, _write = json.dumps, os.write


def main() -> None:
    """Load the program and serve the judge until it hangs up."""
    server = Server()
    name = sys.argv[1]
    server.answer(lambda: load_solution(os.path.abspath("solution.py"), name))
    while line := server.requests.readline():
        message = read_json(line)
        server.serve(message)
    os._exit(0)


class Server:
    """Objects of the program by number, and the way to the judge."""

    def __init__(self) -> None:
        self.requests = os.fdopen(3, "rb")
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.handles: dict[int, JudgeObject] = {}

    def serve(self, message: dict[str, Any]) -> None:
        """Answer one request."""
        arguments = [self.decode(argument) for argument in message["args"]]
        keywords = {name: self.decode(argument) for name, argument in message["kwargs"].items()}
        mutable = {
            place: (value, encode(value, self.special))
            for place, value in (*enumerate(arguments), *keywords.items())
            if type(value) in (list, dict, set, bytearray)
        }
        self.answer(lambda: OPERATIONS[message["op"]](*arguments, **keywords), mutable)

    def answer(self, do: Callable[[], Any], mutable: dict[Any, tuple[Any, str]] | None = None) -> None:
        """Do it, and tell the judge what came of it."""
        try:
            text = f'{{"value":{encode(do(), self.special)}'
        except StopIteration as stop:
            text = f'{{"stop":{self.text(stop.value)}'
        except UnsendableError as error:
            text = f'{{"unsendable":{_dumps(str(error))}'
        except BaseException as error:  # SystemExit and the like are for the judge to see
            text = f'{{"raised":{self.raised(error)}'
        changed = []
        for place, (value, before) in (mutable or {}).items():
            try:
                after = encode(value, self.special)
            except UnsendableError:
                continue
            if after != before:
                changed.append(f"[{_dumps(place)},{after}]")
        self.say(text + (f',"changed":[{",".join(changed)}]}}' if changed else "}"))

    def ask(self, handle: int, operation: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Have the judge do something with an object of the tests."""
        args = ",".join(encode(argument, self.special) for argument in arguments)
        kwargs = ",".join(f"{_dumps(name)}:{encode(value, self.special)}" for name, value in keywords.items())
        self.say(f'{{"callback":[{handle},"{operation}"],"args":[{args}],"kwargs":{{{kwargs}}}}}')
        while line := self.requests.readline():
            message = read_json(line)
            if "op" in message:
                self.serve(message)  # the tests' object uses the program in turn
            elif "value" in message:
                return self.decode(message["value"])
            elif "stop" in message:
                raise StopIteration
            else:
                raise self.decode(message["raised"])
        os._exit(0)

    def say(self, text: str) -> None:
        line = text.encode() + b"\n"
        while line:
            line = line[_write(4, line) :]

    def decode(self, tagged: Any) -> Any:
        return decode(tagged, self.special_value)

    def special_value(self, tag: str, held: Any) -> Any:
        if tag == "o":
            return self.objects[held]
        if tag == "j":
            number, kind = held
            return self.handles.setdefault(number, _HANDLES[kind](self, number))
        if tag == "e":
            name, arguments = held
            return (standard_error(name) or Exception)(*self.decode(arguments))
        return value_of(tag, held, self.decode)

    def text(self, value: Any) -> str:
        try:
            return encode(value, self.special)
        except (UnsendableError, RecursionError):
            return "null"

    def special(self, value: Any) -> str | None:
        kind = type(value)
        if kind is JudgeObject or kind is JudgeFunction or kind is JudgeIterator:
            return f'{{"j":{object.__getattribute__(value, "_number")}}}'
        if (text := text_of(value, self.special)) is not None:
            return text
        if built_in_base(kind) is not None:
            return None
        more: str | None = None
        name = "object"
        mro = type.__dict__["__mro__"].__get__(kind)
        if any(base is type for base in mro):
            name = "class"
            if any(base is BaseException for base in type.__dict__["__mro__"].__get__(value)):
                name, more = "error class", self.error_class(value)
        elif any(base is BaseException for base in mro):
            name, more = "error", self.raised(value, kept=False)
        elif kind is types.ModuleType:
            name, more = "module", _dumps(str(value.__name__))
        elif kind is types.GeneratorType:
            name = "generator"
        elif kind is types.CoroutineType:
            name = "coroutine"
        return f'{{"o":[{self.keep(value)},"{name}",{more or "null"}]}}'

    def keep(self, value: Any) -> int:
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
        return number

    def raised(self, error: BaseException, *, kept: bool = True) -> str:
        try:
            text = str(error)
        except BaseException as another:
            text = f"(its text raised {type(another).__name__})"
        state = {name: value for name, value in vars(error).items() if type(value) in (str, int, float, bool)}
        parts = (
            f'"class":{self.error_class(type(error))}',
            f'"args":{self.text(list(tuple.__iter__(error.args)))}',
            f'"text":{_dumps(text[:2000])}',
            f'"state":{self.text(state)}',
            f'"object":{self.keep(error) if kept else "null"}',
        )
        return f"{{{','.join(parts)}}}"

    def error_class(self, kind: Any) -> str:
        name = str(kind.__name__)
        module = str(kind.__module__)
        if standard_error(name) is kind:
            return _dumps(name)
        if standard_error({"module": module, "name": name}) is kind:
            return _dumps({"module": module, "name": name})
        bases = [base for base in kind.__bases__ if issubclass(base, BaseException)]
        texts = ",".join(self.error_class(base) for base in bases)
        return f'{{"class":{self.keep(kind)},"name":{_dumps(name)},"bases":[{texts}]}}'


class JudgeObject:
    """An object of the tests, which is not here."""

    def __init__(self, server: Server, number: int) -> None:
        object.__setattr__(self, "_server", server)
        object.__setattr__(self, "_number", number)

    def __getattr__(self, name: str) -> Any:
        return self._server.ask(self._number, "getattr", (name,), {})

    def __setattr__(self, name: str, value: Any) -> None:
        self._server.ask(self._number, "setattr", (name, value), {})


class JudgeFunction(JudgeObject):
    """A function of the tests."""

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._server.ask(self._number, "call", arguments, keywords)


class JudgeIterator(JudgeObject):
    """An iterator of the tests."""

    def __iter__(self) -> "JudgeIterator":
        return self

    def __next__(self) -> Any:
        return self._server.ask(self._number, "next", (), {})


_HANDLES = {"object": JudgeObject, "function": JudgeFunction, "iterator": JudgeIterator}


def _names(module: types.ModuleType) -> list[str]:
    names = getattr(module, "__all__", None)
    return list(names) if names is not None else [name for name in vars(module) if not name.startswith("_")]


def _call(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
    return function(*arguments, **keywords)


def _enter(manager: Any) -> Any:
    return type(manager).__enter__(manager)


def _exit(manager: Any, error: BaseException | None) -> Any:
    return type(manager).__exit__(manager, type(error) if error else None, error, None)


def _send(generator: Any, value: Any) -> Any:
    return generator.send(value)


def _close(generator: Any) -> None:
    generator.close()


def _run(coroutine: Any) -> Any:
    import asyncio

    return asyncio.run(coroutine)


_OPERATORS = "eq ne lt le gt ge add sub mul matmul truediv floordiv mod pow and_ or_ xor lshift rshift neg pos invert"
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (*_OPERATORS.split(), "contains", "getitem", "setitem", "delitem")},
    **{do.__name__: do for do in (getattr, setattr, delattr, iter, next, reversed, len, bool, hash, format, dir)},
    **{do.__name__: do for do in (str, repr, int, float, complex, bytes, abs, round, isinstance, issubclass)},
    **{do.__name__.strip("_"): do for do in (_names, _call, _enter, _exit, _send, _close, _run)},
}
