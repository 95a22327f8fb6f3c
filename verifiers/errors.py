"""Errors of the verifiers package.

VerifierError
    UnknownVerifierError    no verifier of that name
    VerifierNameTakenError  a plug-in wants a name that is in use
    VerifierPluginError     a plug-in could not be loaded
    VerifierOptionError     a verifier was given an option that it does not have
    BadReferenceError       the problem's own reference answer cannot be used
    WorkerLostError         a worker process cannot be started (verifiers.worker)
    WorkerJobError          a bug in what a worker process does (verifiers.worker)
"""


class VerifierError(Exception):
    """The verifier could not judge. Never a statement about the response: that would be a Verdict."""


class UnknownVerifierError(VerifierError):
    """No verifier of that name is built in, registered or installed."""


class VerifierNameTakenError(VerifierError):
    """A plug-in registers a name that another verifier already has."""


class VerifierPluginError(VerifierError):
    """An installed or given plug-in failed to import or does not define what it promises."""


class VerifierOptionError(VerifierError, ValueError):
    """An option value or option name that the verifier does not have."""


class BadReferenceError(VerifierError):
    """The reference answer of a problem is of the wrong kind or cannot be parsed; names the problem."""
