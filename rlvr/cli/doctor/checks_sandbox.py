"""The sandbox, where programs are judged."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from rlvr.cli.doctor.findings import Finding, blocker, from_error, note, ok, warning
from sandbox.docker_sandbox import DockerSandbox
from sandbox.errors import SandboxError
from sandbox.local_sandbox import LocalSandbox
from sandbox.types import End, Limits, Program, Sandbox
from verifiers.code.verifier import CodeVerifier
from verifiers.registry import load_verifier

_SLOW_S = 1.0


def code_verifiers(name: str, options: Mapping[str, Any]) -> list[CodeVerifier]:
    """Return those among a verifier and the parts that its options name which run programs."""
    verifier = load_verifier(name, options)
    if isinstance(verifier, CodeVerifier):
        return [verifier]
    parts = options.get("parts", [])
    named = [(part["name"], part.get("options", {})) for part in parts if isinstance(part, Mapping)]
    if isinstance(inner := options.get("verifier"), str):
        named.append((inner, options.get("options", {})))
    return [found for part, its_options in named for found in code_verifiers(part, its_options)]


def check_sandbox(sandbox: Sandbox, *, slow_s: float = _SLOW_S) -> Iterator[Finding]:
    """Run one program in the sandbox, which builds its image first where it is not there."""
    if isinstance(sandbox, LocalSandbox):
        yield warning(
            'sandbox = "local" does not contain programs: what the model writes can read and delete your files',
            "for training use the Docker sandbox (docs/sandbox.md)",
        )
    program = Program(argv=("python3", "main.py"), files={"main.py": b"print(6 * 7)"})
    try:
        started = time.monotonic()
        execution = sandbox.run(program, Limits(wall_s=10.0))
        first_s = time.monotonic() - started
        started = time.monotonic()
        sandbox.run(program, Limits(wall_s=10.0))
        again_s = time.monotonic() - started
    except SandboxError as error:
        yield from_error(error)
        return
    if execution.end is not End.EXITED or execution.exit_code or execution.stdout.strip() != b"42":
        shown = (execution.stderr or execution.stdout)[-200:].decode("utf-8", "replace")
        yield blocker(
            f"a program that prints 42 ended with {execution.end.value}, exit code {execution.exit_code}: "
            + " ".join(shown.split()),
            "run `rlvr sandbox check`",
        )
        return
    told = f"a program runs in the sandbox: the first took {first_s:.2f} s, the next {1000 * again_s:.0f} ms"
    if again_s > slow_s:
        yield warning(told, "such a slow sandbox will take most of each step; see docs/sandbox.md")
    else:
        yield ok(told)
    if isinstance(sandbox, DockerSandbox):
        yield note("only one honest program was run here", "run `rlvr sandbox check` once: it tries to break out")
