"""The modules of verifiers.code.inside in a form for a sandbox that has the standard library alone.

Parsing them takes longer than most tests: where the interpreter inside is this one's version it gets compiled code, and
else their source. What starts them is short, for the same reason, and imports nothing that a fresh interpreter has not.
"""

import importlib.util
import marshal
import zlib
from functools import cache
from pathlib import Path

from sandbox.types import Judge

_INSIDE = "verifiers.code.inside"
_START = """\
import marshal, sys
from importlib._bootstrap_external import MAGIC_NUMBER
from types import ModuleType
{read}
if MAGIC_NUMBER == {magic!r}:
    modules = marshal.loads(compiled)
else:
    import zlib
    modules = marshal.loads(zlib.decompress(sources))
for name, code in modules:
    module = sys.modules[name] = ModuleType(name)
    exec(code, module.__dict__)
module.main()
"""
_READ_FILES = """\
with open("modules.compiled", "rb") as file:
    compiled = file.read()
with open("modules.sources", "rb") as file:
    sources = file.read()"""
_READ_STDIN = "compiled, sources = sys.stdin.buffer.read({compiled}), sys.stdin.buffer.read({sources})"


def program_files(*names: str) -> dict[str, bytes]:
    """Return files of which main.py defines modules of verifiers.code.inside and runs the main() of the last.

    Args:
        names: the modules, each after those that it imports.
    """
    compiled, sources = _modules(*names)
    start = _START.format(read=_READ_FILES, magic=importlib.util.MAGIC_NUMBER)
    return {"main.py": start.encode(), "modules.compiled": compiled, "modules.sources": sources}


def judge_of(*names: str, job: bytes) -> Judge:
    """Return a judge made of modules as `program_files` is, whose main() finds `job` on standard input."""
    compiled, sources = _modules(*names)
    read = _READ_STDIN.format(compiled=len(compiled), sources=len(sources))
    start = _START.format(read=read, magic=importlib.util.MAGIC_NUMBER)
    return Judge(source=start.encode(), stdin=compiled + sources + job)


@cache
def _modules(*names: str) -> tuple[bytes, bytes]:
    """Return names and code of the modules, and names and sources, in formats that the interpreters inside read."""
    folder = Path(__file__).parent / "inside"
    sources = [(f"{_INSIDE}.{name}", (folder / f"{name}.py").read_text(encoding="utf-8")) for name in names]
    compiled = [(name, compile(source, f"{name}.py", "exec", dont_inherit=True)) for name, source in sources]
    # Version 2 of the format, which every interpreter reads.
    return marshal.dumps(compiled), zlib.compress(marshal.dumps(sources, 2), 9)
