"""Judging responses: a verifier reads a response and returns a verdict."""

from verifiers.conformance import Case, ConformanceError, self_check
from verifiers.errors import (
    BadReferenceError,
    UnknownVerifierError,
    VerifierError,
    VerifierNameTakenError,
    VerifierOptionError,
    VerifierPluginError,
)
from verifiers.registry import load_verifier, register_verifier, verifier_names
from verifiers.types import BatchVerifier, Outcome, Verdict, Verifier

__all__ = [
    "BadReferenceError",
    "BatchVerifier",
    "Case",
    "ConformanceError",
    "Outcome",
    "UnknownVerifierError",
    "Verdict",
    "Verifier",
    "VerifierError",
    "VerifierNameTakenError",
    "VerifierOptionError",
    "VerifierPluginError",
    "load_verifier",
    "register_verifier",
    "self_check",
    "verifier_names",
]
