"""Running untrusted programs: what goes in, what comes out, and what a sandbox must keep to."""

from sandbox.errors import SandboxClosedError, SandboxError, SandboxLostError, SandboxUnavailableError
from sandbox.fake_sandbox import FakeSandbox
from sandbox.types import End, Execution, Judge, Limits, Program, Sandbox

__all__ = [
    "End",
    "Execution",
    "FakeSandbox",
    "Judge",
    "Limits",
    "Program",
    "Sandbox",
    "SandboxClosedError",
    "SandboxError",
    "SandboxLostError",
    "SandboxUnavailableError",
]
