"""Verifiers by name: the built-in ones, those of --plugin files and those of installed distributions."""

from collections.abc import Callable, Mapping

from tasks.plugins import Factory, Registry, RegistryErrors
from verifiers.errors import (
    UnknownVerifierError,
    VerifierNameTakenError,
    VerifierOptionError,
    VerifierPluginError,
)
from verifiers.types import Verifier

_VERIFIERS = Registry(
    noun="verifier",
    built_in={
        "exact": "verifiers.exact:Exact",
        "numeric": "verifiers.numeric:Numeric",
        "math": "verifiers.symbolic:MathVerifier",
        "multiple_choice": "verifiers.multiple_choice:MultipleChoice",
        "regex": "verifiers.regex:Regex",
        "json_match": "verifiers.json_match:JsonMatch",
        "countdown": "verifiers.countdown:Countdown",
        "stdin_tests": "verifiers.code.stdin_tests:StdinTestsVerifier",
        "function_tests": "verifiers.code.function_tests:FunctionTestsVerifier",
        "assert_tests": "verifiers.code.assert_tests:AssertTestsVerifier",
        "pytest_tests": "verifiers.code.pytest_tests:PytestTestsVerifier",
        "answer_format": "verifiers.answer_format:AnswerFormat",
        "length_penalty": "verifiers.length_penalty:LengthPenalty",
        "weighted": "verifiers.weighted:Weighted",
        "all": "verifiers.weighted:AllOf",
        "any": "verifiers.weighted:AnyOf",
        "random": "verifiers.controls:RandomControl",
        "shuffled": "verifiers.controls:ShuffledControl",
    },
    entry_point_group="rlvr.verifiers",
    options_key="task.verifier_options",
    contract=Verifier,
    errors=RegistryErrors(
        unknown=UnknownVerifierError,
        name_taken=VerifierNameTakenError,
        plugin=VerifierPluginError,
        option=VerifierOptionError,
    ),
)


def load_verifier(name: str, options: Mapping[str, object] | None = None) -> Verifier:
    """Make the verifier called `name`; `options` are the keyword parameters of its class.

    Raises:
        UnknownVerifierError: lists the known names.
        VerifierOptionError: one line for each option that is unknown, missing or of the wrong type.
        VerifierNameTakenError: more than one distribution claims the name.
        VerifierPluginError: the plug-in behind the name is broken; the cause is chained.
    """
    return _VERIFIERS.load(name, options or {})


def register_verifier(name: str) -> Callable[[Factory], Factory]:
    """Give the decorated class or function a verifier name: `@register_verifier("mine")`.

    Raises:
        VerifierNameTakenError: the name is in use.
    """
    return _VERIFIERS.register(name)


def verifier_names() -> list[str]:
    """Return every known verifier name, sorted."""
    return _VERIFIERS.names()
