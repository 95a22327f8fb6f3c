"""The program as the judge knows it: requests, and the translation of what comes back."""

import importlib
import json
import sys
import types
import weakref
from collections.abc import Iterator
from typing import Any

from verifiers.code.inside.exchange import standard_error, text_of, value_of
from verifiers.code.inside.link import Link, StoppedError, UnsendableResultError
from verifiers.code.inside.proxies import Proxy, SolutionModule, coroutine_of, generator_of, mirror_class
from verifiers.code.inside.wire import MalformedError, UnsendableError, built_in_base, decode, encode

_CLOSED = tuple(kind for kind in vars(types).values() if isinstance(kind, type) and kind is not types.SimpleNamespace)


class Program:
    """The candidate's program, which runs in another process."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._proxies: dict[int, Any] = {}
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._given: list[Any] = []
        self._handles: dict[int, int] = {}

    def load(self, name: str) -> SolutionModule:
        """Wait until the program is loaded, and return it as a module. Raises what it raised when it was loaded."""
        module = self._result(self._link.receive(), "load", (), {})
        if not isinstance(module, Proxy):
            self._link.break_off("the program wrote something else in the place of an answer")
        return SolutionModule(name, module)

    def request(self, operation: str, /, *arguments: Any, **keywords: Any) -> Any:
        """Have the program do something and return what comes of it, or raise what it raised.

        Raises:
            ProgramGoneError: it ended or answered nonsense.
            UnsendableResultError: the result is too large to be sent.
            TypeError: an argument cannot be sent.
        """
        try:
            args = ",".join([encode(argument, self._special) for argument in arguments])
            kwargs = ",".join([f"{json.dumps(key)}:{encode(value, self._special)}" for key, value in keywords.items()])
        except UnsendableError as error:
            raise TypeError(f"cannot be handed to the program: {error}") from None
        self._link.send(f'{{"op":"{operation}","args":[{args}],"kwargs":{{{kwargs}}}}}')
        message = self._link.receive()
        while "callback" in message:
            self._call_back(message)
            message = self._link.receive()
        return self._result(message, operation, arguments, keywords)

    def _result(
        self, message: dict[str, Any], operation: str, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        try:
            for place, tagged in message.get("changed", ()):
                _assign(keywords[place] if isinstance(place, str) else arguments[place], self._decode(tagged))
            if "value" in message:
                return self._decode(message["value"])
            if "stop" in message:
                error: BaseException = StopIteration(self._decode(message["stop"]))
            elif "unsendable" in message:
                error = UnsendableResultError(str(message["unsendable"])[:300])
            else:
                error = self._error(message["raised"], None)
        except (MalformedError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
            self._link.break_off("the program wrote something else in the place of an answer")
        if isinstance(error, StopIteration | StopAsyncIteration) and operation not in ("next", "send"):
            # all(map(test, cases)) would take it for the end of the cases.
            error = RuntimeError(f"the program raised {type(error).__name__}")
            vars(error)["_rlvr_remote"] = True
        raise error

    def _call_back(self, message: dict[str, Any]) -> None:
        """Do what the program asks of an object that a test handed to it."""
        try:
            handle, operation = message["callback"]
            subject = self._given[handle]
            arguments = [self._decode(tagged) for tagged in message["args"]]
            keywords = {key: self._decode(tagged) for key, tagged in message["kwargs"].items()}
        except (MalformedError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
            self._link.break_off("the program wrote something else in the place of a question")
        try:
            answer = f'{{"value":{encode(_done(subject, operation, arguments, keywords), self._special)}}}'
        except StoppedError as stopped:
            self._link.broken = f"a test stopped while the program waited for it: {stopped}"
            raise
        except StopIteration:
            answer = '{"stop":null}'
        except Exception as error:
            answer = f'{{"raised":{self._special(error)}}}'
        self._link.send(answer)

    def _special(self, value: Any) -> str | None:
        kind = type(value)
        if kind is Proxy:
            return f'{{"o":{value._rlvr_number}}}'
        if kind is SolutionModule:
            return self._special(object.__getattribute__(value, "_rlvr_proxy"))
        if isinstance(value, BaseException):
            return self._error_text(value)
        if (text := text_of(value, self._special)) is not None:
            return text
        if isinstance(value, type) and "_rlvr_proxy" in vars(value):
            return self._special(vars(value)["_rlvr_proxy"])
        if kind.__hash__ is not None and kind.__name__ in ("generator", "coroutine") and value in self._numbers:
            return f'{{"o":{self._numbers[value]}}}'
        if built_in_base(kind) is not None:
            return None
        handle = self._handles.get(id(value))
        if handle is None:
            handle = self._handles[id(value)] = len(self._given)
            self._given.append(value)
        word = "function" if callable(value) else "iterator" if isinstance(value, Iterator) else "object"
        return f'{{"j":[{handle},"{word}"]}}'

    def _error_text(self, error: BaseException) -> str | None:
        instance = getattr(error, "_rlvr_instance", None)
        if instance is not None:
            return self._special(instance)
        kind = next((kind for kind in type(error).__mro__ if standard_error(kind.__name__) is kind), Exception)
        try:
            return f'{{"e":["{kind.__name__}",{encode(list(error.args), self._special)}]}}'
        except UnsendableError:
            return f'{{"e":["{kind.__name__}",[]]}}'

    def _decode(self, tagged: Any) -> Any:
        return decode(tagged, self._special_value)

    def _special_value(self, tag: str, held: Any) -> Any:
        if tag == "j":
            return self._given[held]
        if tag != "o":
            return value_of(tag, held, self._decode)
        number, kind, more = held
        if not isinstance(number, int):
            raise TypeError("no number")
        if number not in self._proxies:
            proxy = Proxy(self.request, number)
            made: Any = proxy
            if kind == "module":
                made = _own_module(more) or proxy
            elif kind == "error class":
                made = self._error_class(more)
            elif kind == "error":
                made = self._error(more, proxy)
            elif kind in ("generator", "coroutine"):
                made = (generator_of if kind == "generator" else coroutine_of)(proxy)
                self._numbers[made] = number
            self._proxies[number] = made
        return self._proxies[number]

    def _error(self, told: dict[str, Any], instance: Proxy | None) -> BaseException:
        kind = self._error_class(told["class"])
        arguments = self._decode(told["args"])
        arguments = arguments if isinstance(arguments, list) else []
        error = _made(kind, arguments)
        vars(error)["_rlvr_remote"] = True
        if instance is None and isinstance(told["object"], int):
            instance = Proxy(self.request, told["object"])
        if hasattr(kind, "_rlvr_text"):
            object.__setattr__(error, "_rlvr_instance", instance)
            object.__setattr__(error, "_rlvr_text", str(told["text"]))
        else:
            for name, value in (self._decode(told["state"]) or {}).items():
                setattr(error, name, value)
        return error

    def _error_class(self, tag: Any) -> type[BaseException]:
        if (kind := standard_error(tag)) is not None:
            return kind
        number = tag["class"]
        if not isinstance(number, int):
            raise TypeError("no number")
        if not isinstance(self._proxies.get(number), type):
            bases = [self._error_class(base) for base in tag["bases"]]
            self._proxies[number] = mirror_class(str(tag["name"]), bases, Proxy(self.request, number))
        return self._proxies[number]


def connect() -> Program:
    """Return the program at the other end of descriptors 3 and 4."""
    return Program(Link(3, 4))


def _made(kind: type[BaseException], arguments: list[Any]) -> BaseException:
    for make in (lambda: kind(*arguments), lambda: kind.__new__(kind, *arguments)):
        try:
            error = make()
            error.args = tuple(arguments)
        except Exception:
            continue  # a class whose constructor takes other things than its `args`
        return error
    return Exception(*arguments)


def _done(subject: Any, operation: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Use an object of the tests."""
    if operation == "call":
        return subject(*arguments, **keywords)
    if operation == "next":
        return next(subject)
    name = arguments[0]
    # From a function or a frame, and by names with underscores, a program would get to the tests themselves.
    if not isinstance(name, str) or name.startswith("_") or isinstance(subject, _CLOSED):
        raise AttributeError(f"not open to the program: {name}")
    return getattr(subject, name) if operation == "getattr" else setattr(subject, name, arguments[1])


def _assign(old: Any, new: Any) -> None:
    """Make a mutable argument what the program made of its copy, nested lists and mappings included."""
    if type(old) is not type(new):
        raise TypeError("an argument of another type")
    if isinstance(old, list):
        old[:] = [_kept(old[place], element) if place < len(old) else element for place, element in enumerate(new)]
    elif isinstance(old, dict):
        merged = {key: _kept(old[key], value) if key in old else value for key, value in new.items()}
        old.clear()
        old.update(merged)
    elif isinstance(old, set):
        old.clear()
        old.update(new)
    else:
        old[:] = new


def _kept(old: Any, new: Any) -> Any:
    if type(old) in (list, dict) and type(old) is type(new):
        _assign(old, new)
        return old
    return new


def _own_module(name: Any) -> Any:
    """Return the judge's own module of that name: what the program did to its modules is no matter of the tests."""
    if not isinstance(name, str) or name.partition(".")[0] not in sys.stdlib_module_names | {"numpy", "scipy"}:
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
