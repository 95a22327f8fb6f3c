"""What every sandbox must do with a program; the first half of `sandbox.self_check`.

A check takes the sandbox and yields what is wrong, each in a line; the first line of its docstring is what it asks.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from sandbox.types import End, Execution, Judge, Limits, Program, Sandbox

_KILL_MARGIN_S = 3.0
"""How much longer than its limit a killed program may seem to have run."""
_EVERY_BYTE = bytes(range(256))


def python(source: str, *, stdin: bytes = b"") -> Program:
    """Return the program whose only file is main.py with this source."""
    return Program(argv=("python3", "main.py"), files={"main.py": source.encode()}, stdin=stdin)


def shown(execution: Execution) -> str:
    """Return an execution in a line."""
    said = (execution.stdout[-120:] + b" | " + execution.stderr[-200:]).decode(errors="replace")
    return f"{execution.end} with code {execution.exit_code}, said {said!r}"


def exits(sandbox: Sandbox) -> Iterator[str]:
    """Exit codes and signals are reported as they were, forged ones included."""
    expected = {
        "": 0,
        "exit(3)": 3,
        "raise ValueError('wrong')": 1,
        "import os; os._exit(124)": 124,
        "import os; os._exit(137)": 137,
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": -9,
        "import os; os.abort()": -6,
        "import ctypes; ctypes.string_at(0)": -11,
        "import os; os.execvp('python3', ['python3', '-c', 'exit(4)'])": 4,
    }
    for source, code in expected.items():
        execution = sandbox.run(python(source), Limits())
        if (execution.end, execution.exit_code) != (End.EXITED, code):
            yield f"{source or 'the empty program'} should end with code {code}: {shown(execution)}"


def files_and_arguments(sandbox: Sandbox) -> Iterator[str]:
    """A program finds its files, arguments and an ordinary interpreter."""
    program = Program(
        argv=("python3", "src/main.py", "one", "two words", ""),
        files={
            "src/main.py": b"import sys\nassert __name__ == '__main__'\n"
            b"print(sys.argv[1:], open('data/in.bin', 'rb').read(), sys.flags.utf8_mode, '\xc3\xa9')\n",
            "data/in.bin": b"\0\xff",
        },
    )
    execution = sandbox.run(program, Limits())
    if execution.stdout != "['one', 'two words', ''] b'\\x00\\xff' 1 \u00e9\n".encode():
        yield shown(execution)


def streams(sandbox: Sandbox) -> Iterator[str]:
    """Bytes of any value and 600 KB of them pass through stdin, stdout and stderr, which are kept apart."""
    echo = (
        "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data); sys.stderr.buffer.write(data[::-1])"
    )
    for data in (b"", _EVERY_BYTE, _EVERY_BYTE * 2400):
        execution = sandbox.run(python(echo, stdin=data), Limits())
        if (execution.stdout, execution.stderr) != (data, data[::-1]):
            yield f"{len(data)} bytes came back as {len(execution.stdout)} and {len(execution.stderr)} bytes"
    mixed = "import sys\nprint(input())\nprint(sys.stdin.readline().strip(), flush=True)\nprint(len(sys.stdin.read()))"
    execution = sandbox.run(python(mixed, stdin=b"a\nb\n" + b"c" * 500_000), Limits())
    if execution.stdout != b"a\nb\n500000\n":
        yield f"reading by line and then the rest: {shown(execution)}"
    execution = sandbox.run(python("print('not reading')", stdin=b"x" * 500_000), Limits())
    if execution.stdout != b"not reading\n":
        yield f"a program that leaves its input unread: {shown(execution)}"


def wall_time(sandbox: Sandbox) -> Iterator[str]:
    """A program that sleeps, or ignores signals, ends at the wall limit, with what it had printed."""
    stubborn = (
        "import signal\nfor number in range(1, 65):\n  try: signal.signal(number, signal.SIG_IGN)\n"
        "  except (OSError, ValueError): pass\n"
    )
    for source in (
        "import time; print('begun', flush=True); time.sleep(100)",
        stubborn + "print('begun', flush=True)\nwhile True: pass",
    ):
        execution = sandbox.run(python(source), Limits(wall_s=1.0, cpu_s=100.0))
        if (execution.end, execution.exit_code, execution.stdout) != (End.TIMED_OUT, None, b"begun\n"):
            yield shown(execution)
        if not 1.0 <= execution.wall_s <= 1.0 + _KILL_MARGIN_S:
            yield f"the limit of 1 s ended it after {execution.wall_s:.1f} s"


def cpu_time(sandbox: Sandbox) -> Iterator[str]:
    """A program that computes ends at the CPU limit."""
    execution = sandbox.run(python("while True: pass"), Limits(wall_s=60.0, cpu_s=1.0))
    if execution.end is not End.TIMED_OUT:
        yield shown(execution)


def memory(sandbox: Sandbox) -> Iterator[str]:
    """A program that fills memory, by itself or by a child, ends OUT_OF_MEMORY; one that uses half of it does not."""
    fill = "kept = []\nwhile True: kept.append(b'x' * 1_000_000)"
    by_child = f"import os, time\nif os.fork() == 0:\n    exec({fill!r})\ntime.sleep(100)"
    for source in (fill, by_child):
        execution = sandbox.run(python(source), Limits(wall_s=30.0, cpu_s=30.0, memory_mb=128))
        if execution.end is not End.OUT_OF_MEMORY:
            yield shown(execution)
    execution = sandbox.run(python("print(len(b'x' * 64_000_000))"), Limits(memory_mb=128))
    if execution.stdout != b"64000000\n":
        yield f"64 MB of 128: {shown(execution)}"


def output(sandbox: Sandbox) -> Iterator[str]:
    """A program that prints more than the limit, on either stream, ends OUTPUT_LIMIT, and what is kept is cut there."""
    for stream in ("stdout", "stderr"):
        execution = sandbox.run(
            python(f"import sys\nwhile True: sys.{stream}.write('x' * 1000)"), Limits(output_bytes=10_000)
        )
        kept = getattr(execution, stream)
        if execution.end is not End.OUTPUT_LIMIT or kept != b"x" * 10_000:
            yield f"{stream}: {execution.end} with {len(kept)} bytes of 10000"
    execution = sandbox.run(python("print('x' * 9_999)"), Limits(output_bytes=10_000))
    if (execution.end, len(execution.stdout)) != (End.EXITED, 10_000):
        yield f"as much as the limit: {shown(execution)}"


def processes(sandbox: Sandbox) -> Iterator[str]:
    """A program cannot have more processes than the limit."""
    source = (
        "import os, time\nmade = 0\ntry:\n  while made < 100:\n    if os.fork() == 0: time.sleep(100)\n    made += 1\n"
        "except OSError: pass\nprint(made)"
    )
    execution = sandbox.run(python(source), Limits(processes=16, wall_s=20.0))
    made = int(execution.stdout) if execution.stdout.strip().isdigit() else 100
    if execution.end is not End.KILLED and made > 16:
        yield f"with a limit of 16: {shown(execution)}"


def disk(sandbox: Sandbox) -> Iterator[str]:
    """A program cannot write a file beyond the limit; one below it is written."""
    source = (
        "import os\nwritten = 0\ntry:\n  with open('big', 'wb', 0) as file:\n"
        "    while written < 200: file.write(b'x' * 1_000_000); written += 1\nexcept OSError: pass\nprint(written)"
    )
    execution = sandbox.run(python(source), Limits(disk_mb=32, wall_s=20.0))
    written = int(execution.stdout) if execution.stdout.strip().isdigit() else 0
    if execution.end is not End.KILLED and not 16 <= written <= 40:
        yield f"with a limit of 32 MB: {shown(execution)}"


def parallel(sandbox: Sandbox) -> Iterator[str]:
    """Fifty programs from eight threads each get their own answer."""

    def echoed(number: int) -> str | None:
        execution = sandbox.run(python("print(int(input()) * 3)", stdin=b"%d\n" % number), Limits(wall_s=30.0))
        return None if execution.stdout == b"%d\n" % (number * 3) else f"program {number}: {shown(execution)}"

    with ThreadPoolExecutor(8) as threads:
        yield from filter(None, threads.map(echoed, range(50)))


_ASKING = b"""
import os, sys
expected = sys.stdin.read()
os.write(4, b"question\\n")
answer = os.read(3, 100).decode()
print("right" if answer == expected else f"wrong: {answer!r}")
exit(5)
"""
_ANSWERING = "import os, time\nos.read(3, 100)\nos.write(4, {answer!r})\nprint('right')\n{afterwards}"


def judged(sandbox: Sandbox) -> Iterator[str]:
    """A judge questions a program over the pipes, and only the judge's own words are its verdict."""
    judge = Judge(source=_ASKING, stdin=b"42")
    for answer, verdict in ((b"42", b"right\n"), (b"43", b"wrong: '43'\n")):
        for afterwards in ("", "time.sleep(100)"):
            program = python(_ANSWERING.format(answer=answer, afterwards=afterwards))
            execution, judging = sandbox.run_judged(program, judge, Limits(wall_s=20.0))
            if (judging.end, judging.exit_code, judging.stdout) != (End.EXITED, 5, verdict):
                yield f"the answer {answer!r}: the judge {shown(judging)}"
            if afterwards and execution.end is not End.KILLED:
                yield f"the program that outlived its judge: {shown(execution)}"


def judged_badly(sandbox: Sandbox) -> Iterator[str]:
    """A program that ends, hangs or floods leaves its judge with an end of file or a time limit, never waiting."""
    judge = Judge(source=_ASKING, stdin=b"42")
    execution, judging = sandbox.run_judged(python("exit(9)"), judge, Limits(wall_s=20.0))
    if (execution.exit_code, judging.stdout[:5]) not in {(9, b"wrong"), (9, b"")} or judging.wall_s > 10:
        yield f"a program that ends at once: {shown(execution)}, the judge {shown(judging)}"
    execution, judging = sandbox.run_judged(python("while True: pass"), judge, Limits(wall_s=1.0, cpu_s=50.0))
    if not execution.end is judging.end is End.TIMED_OUT:
        yield f"a program that hangs: {shown(execution)}, the judge {shown(judging)}"


CONTRACT_CHECKS: dict[str, Callable[[Sandbox], Iterator[str]]] = {
    check.__name__: check
    for check in (
        exits, files_and_arguments, streams, wall_time, cpu_time, memory, output, processes, disk, parallel,
        judged, judged_badly,
    )
}  # fmt: skip
