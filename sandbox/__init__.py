"""Running untrusted programs: what goes in, what comes out, and what a sandbox must keep to."""

from sandbox.conformance import self_check
from sandbox.docker_sandbox import DockerSandbox
from sandbox.errors import SandboxClosedError, SandboxError, SandboxLostError, SandboxUnavailableError
from sandbox.fake_sandbox import FakeSandbox
from sandbox.local_sandbox import LocalSandbox
from sandbox.types import End, Execution, Judge, Limits, Program, Sandbox

__all__ = [
    "DockerSandbox",
    "End",
    "Execution",
    "FakeSandbox",
    "Judge",
    "Limits",
    "LocalSandbox",
    "Program",
    "Sandbox",
    "SandboxClosedError",
    "SandboxError",
    "SandboxLostError",
    "SandboxUnavailableError",
    "self_check",
]
