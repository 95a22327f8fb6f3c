"""Judging responses: a verifier reads a response and returns a verdict."""

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
    "verifier_names",
]
