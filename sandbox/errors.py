"""Errors of the sandbox package.

SandboxError
    SandboxUnavailableError   the engine cannot be reached or started
    SandboxLostError          what ran the program died under it; the run may be tried again
    SandboxClosedError        used after close()

Whatever a program does (crash, hang, fill memory or disk) is an Execution, never an exception.
"""


class SandboxError(Exception):
    """The sandbox could not run a program. Never a statement about the program: that would be an Execution."""


class SandboxUnavailableError(SandboxError):
    """The engine behind the sandbox cannot be reached, or is not set up; says what to start or install."""


class SandboxLostError(SandboxError):
    """A container or worker was lost during a run. Nothing is known of the program, which may be run again."""


class SandboxClosedError(SandboxError):
    """The sandbox was closed before this call."""
