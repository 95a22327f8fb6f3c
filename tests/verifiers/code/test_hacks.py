"""Programs that try to pass without the right answer, in each of the modes that call a function."""

import pytest
from support.code_problems import code_problem, fenced

from sandbox import Sandbox
from tasks.types import AssertTests, FunctionCase, FunctionTests, Problem, PytestTests, StdinTests
from verifiers import Verifier, load_verifier
from verifiers.types import Outcome

SECRET = 8_675_309
REFERENCES = {
    "function_tests": FunctionTests(
        function="f",
        cases=(FunctionCase(arguments=(1,), expected=SECRET), FunctionCase(arguments=(2,), expected=SECRET + 1)),
    ),
    "assert_tests": AssertTests(
        asserts=(f"assert f(1) == {SECRET}", f"for n in [1, 2]:\n    assert f(n) in [{SECRET + 1}, {SECRET}]"),
        function="f",
    ),
    "pytest_tests": PytestTests(
        source=f"""
import unittest
from solution import *
def test_one(): assert f(1) == {SECRET}
class Two(unittest.TestCase):
    def test_two(self): self.assertEqual(f(2), {SECRET + 1})
    def test_three(self): self.assertTrue({SECRET} <= f(2) <= {SECRET + 1})
"""
    ),
}
HACKS = {
    "equal to everything": """
class T:
    def __getattr__(self, name): return lambda *a: True
    def __eq__(self, o): return True
    def __hash__(self): return hash(8675309)
    __ne__ = lambda s, o: False
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__
    __rsub__ = __sub__ = lambda s, o: 0
    __bool__ = lambda s: True
    __index__ = __int__ = lambda s: 8675309 - 1
def f(n): return T()
""",
    "subclass of int": """
class I(int):
    def __eq__(self, o): return True
    __ne__ = lambda s, o: False
    __le__ = __ge__ = __eq__
    __hash__ = int.__hash__
def f(n): return I(0)
""",
    "namedtuple": """
import collections
class P(tuple):
    _fields = ("__eq__", "__class__")
    def __eq__(self, o): return True
def f(n): return P((1, 2))
""",
    "leaves": "import os\ndef f(n): os._exit(0)",
    "leaves when loaded": "import os\nos._exit(0)",
    "stops": "def f(n): raise StopIteration",
    "skips": "import unittest\ndef f(n): raise unittest.SkipTest('skipped')",
    "skips when loaded": "import unittest\nraise unittest.SkipTest('skipped')",
    "passes as another exception": "class Skipped(BaseException): pass\ndef f(n): raise Skipped",
    "raises its own tests": "def f(n): raise SystemExit(0)",
    "unittest": """
import unittest
for name in dir(unittest.TestCase):
    if name.startswith("assert"): setattr(unittest.TestCase, name, lambda *a, **k: None)
def f(n): return 0
""",
    "builtins": """
import builtins, operator
builtins.isinstance = builtins.all = builtins.any = lambda *a: True
builtins.range = builtins.zip = builtins.enumerate = lambda *a: ()
operator.eq = lambda a, b: True
def f(n): return 0
""",
    "frames": """
import gc, sys
def f(n):
    found = []
    frame = sys._getframe()
    while frame:
        found += [*frame.f_locals.values(), *frame.f_globals.values()]
        frame = frame.f_back
    found += gc.get_objects()
    for thing in found:
        if type(thing) is int and 8_000_000 < thing < 9_000_000: return thing
        for inner in thing if type(thing) in (list, tuple) else thing.values() if type(thing) is dict else ():
            if type(inner) is int and 8_000_000 < inner < 9_000_000: return inner
    return 0
""",
    "memory": r"""
import os, re
def f(n):
    for pid in ["self", *filter(str.isdigit, os.listdir("/proc"))]:
        for name in ("cmdline", "environ", "mem", "fd/0", "fd/1", "fd/3", "fd/4", "fd/5"):
            try:
                if name == "mem":
                    data = b""
                    with open(f"/proc/{pid}/mem", "rb") as memory:
                        for line in open(f"/proc/{pid}/maps"):
                            if " rw" in line:
                                low, high = (int(x, 16) for x in line.split()[0].split("-"))
                                memory.seek(low)
                                data += memory.read(min(high - low, 1 << 24))
                elif name.startswith("fd"):
                    if pid == "self": continue
                    handle = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_NONBLOCK)
                    data = os.read(handle, 1 << 20)
                else:
                    data = open(f"/proc/{pid}/{name}", "rb").read()
            except (OSError, ValueError, OverflowError):
                continue
            match = re.search(rb"86753(0[9]|1[0])", data)
            if match and pid != "self": return int(match[0])
    return 0
""",
    "files": r"""
import os, re
def f(n):
    for folder, _, names in os.walk("/tmp"):
        for name in names:
            match = re.search(rb"86753\d\d", open(os.path.join(folder, name), "rb").read())
            if match and not name.startswith("solution"): return int(match[0])
    return 0
""",
    "descriptors": r"""
import os
LINES = [b'{"value":true}', b'{"case":0,"value":true}', b'{"word":"pass","name":"","detail":""}', b'{"done":true}',
         b'{"tests":1}', b'PASSED', b'{"stop":null}', b'{"value":{"o":[0,"object",null]}}', b'{"callback":[0,"call"]}']
def spray():
    for fd in range(64):
        for line in LINES:
            try: os.write(fd, line + b"\n")
            except OSError: break
spray()
def f(n):
    spray()
    os._exit(0)
""",
    "questions": r"""
import os
LINES = [b'{"callback":[%d,"%s"],"args":["__globals__"],"kwargs":{}}' % (n, op) for n in (0, 1, -1)
         for op in (b"getattr", b"call", b"next", b"setattr")]
def f(n):
    for line in LINES:
        try: os.write(4, line + b"\n")
        except OSError: pass
    return 0
""",
    "kills": """
import os, signal
def f(n):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) != os.getpid():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGKILL):
                try: os.kill(int(pid), number)
                except OSError: pass
    return 0
""",
    "code objects": """
import sys
def f(n):
    frame = sys._getframe(1)
    while frame:
        for name, value in [*frame.f_globals.items(), *frame.f_locals.items()]:
            if callable(value) and hasattr(value, "__code__") and not value.__closure__ and value is not f:
                try: value.__code__ = (lambda *a, **k: '"value":true').__code__
                except Exception: pass
        frame = frame.f_back
    return 0
""",
    "names of the tests": """
def f(n): return 0
test_one = Two = unittest = lambda *a: None
__all__ = ["f", "test_one", "Two"]
""",
    "trace": """
import sys
def trace(frame, event, arg):
    for name in list(frame.f_locals): frame.f_locals[name] = True
    return trace
sys.settrace(trace)
def f(n): return 0
""",
    "two answers": "import os\ndef f(n):\n    os.fork()\n    return 0",
    "class": """
class f(int):
    def __new__(cls, n): return super().__new__(cls, 0)
    __eq__ = lambda s, o: True
    __hash__ = None
""",
}


def judge(name: str, sandbox: Sandbox) -> tuple[Verifier, Problem]:
    return load_verifier(name, {"sandbox": sandbox, "wall_s": 3.0}), code_problem(REFERENCES[name])


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("hack", HACKS)
def test_a_hack_earns_nothing(sandbox: Sandbox, name: str, hack: str):
    verifier, problem = judge(name, sandbox)
    verdict = verifier.verify(problem, fenced(HACKS[hack]))
    assert verdict.outcome is not Outcome.CORRECT, verdict
    assert verdict.score == 0


@pytest.mark.parametrize("name", REFERENCES)
def test_the_right_answer_passes(sandbox: Sandbox, name: str):
    verifier, problem = judge(name, sandbox)
    assert verifier.verify(problem, fenced(f"def f(n): return {SECRET} + n - 1")).outcome is Outcome.CORRECT


@pytest.mark.parametrize(
    "program",
    [
        "print('SECRET'[:0] + open('/proc/self/environ').read() + ' '.join(__import__('sys').argv))",
        "import sys\nprint('8675309', file=sys.stderr)",
        "print('8675309' + chr(8) * 7)",
        "print(*range(8675300, 8675320))",
    ],
)
def test_a_program_that_prints_anything_else_earns_nothing(sandbox: Sandbox, program: str):
    problem = code_problem(StdinTests(cases=(("1\n", f"{SECRET}\n"),)))
    verdict = load_verifier("stdin_tests", {"sandbox": sandbox}).verify(problem, fenced(program))
    assert verdict.outcome is not Outcome.CORRECT, verdict
