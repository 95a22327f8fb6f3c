"""A fork of the preloaded interpreter runs a file as python3 -I -X utf8 FILE does: each program is run both ways."""

import re

import pytest
from support.supervised import supervised_container

PROGRAMS = {
    "names of the main module": "print(list(vars()), __builtins__, __spec__, __package__, __doc__)",
    "loader and file": "import os\nprint(type(__loader__), __loader__.path == __file__)\n"
    "print(os.path.dirname(__file__) == os.getcwd())",
    "sys": "import sys\nprint(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.getrecursionlimit())",
    "streams": "import sys\nfor s in (sys.stdin, sys.stdout, sys.stderr, sys.__stdout__):\n"
    "  print(s, s.errors, s.line_buffering, s.mode, s.buffer, s.newlines, s.isatty())\nprint(repr(sys.stdin.read()))",
    "buffered and text stdin": "import sys\nprint(sys.stdin.buffer.readline(), repr(input()))\ninput()\ninput()",
    "device files": "print(repr(open('/dev/stdin').read()))\nopen('/dev/stdout', 'w').write('hi')",
    "surrogates": "print('\\udcff')\nprint('\\ud800')",
    "environment": "import os, locale\nprint(dict(os.environ), os.umask(0), os.nice(0), locale.getpreferredencoding())",
    "session": "import os\nprint(os.getsid(0) == os.getpid(), sorted(os.listdir('/proc/self/fd')))",
    "signals": "import signal\nprint({s: signal.getsignal(s) for s in signal.valid_signals()})\n"
    "print([line for line in open('/proc/self/status') if line.startswith('Sig')])",
    "limits": "import resource as r\nprint({k: r.getrlimit(getattr(r, k)) for k in dir(r) if k[:7] == 'RLIMIT_'})",
    "exit without a code": "import sys\nsys.exit()",
    "exit 3": "raise SystemExit(3)",
    "exit above a byte": "import sys\nsys.exit(256 + 7)",
    "exit below zero": "import sys\nsys.exit(-1)",
    "exit too large": "import sys\nsys.exit(2**70)",
    "exit True": "raise SystemExit(True)",
    "exit with a text": "print('out')\nraise SystemExit('err')",
    "exit with a tuple": "raise SystemExit(1, 2)",
    "quit": "quit()",
    "exit by os": "import os\nprint('lost')\nos._exit(4)",
    "exit in a child": "import os, sys\nif os.fork() == 0: sys.exit(7)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))",
    "uncaught": "def f():\n    1/0\nf()",
    "uncaught with a cause": "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('x') from error",
    "uncaught group": "raise ExceptionGroup('g', [ValueError(1)])",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "SIGINT": "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)",
    "SIGSEGV": "import os\nos.kill(os.getpid(), 11)",
    "broken pipe": "import os\nr, w = os.pipe()\nos.close(r)\nos.write(w, b'x')",
    "memory error": "bytearray(10**15)",
    "syntax error": "x = (1,\nif y",
    "indentation error": "if 1:\nx",
    "tab error": "if 1:\n\tx = 1\n        y = 2",
    "syntax warning": "print('a' is 'a')",
    "byte order mark": b"\xef\xbb\xbfprint('bom')",
    "declared encoding": b"# -*- coding: latin-1 -*-\nprint(ascii('\xe9'))",
    "no newline at the end": "if 1:\n    print(1)",
    "carriage returns": b"print('''a\r\nb''')\r\n",
    "nothing": "",
    "future": "from __future__ import annotations\nx: a = 1\nprint(__annotations__)",
    "docstring": "'''text'''\nprint(__doc__)",
    "exit functions": "import atexit\natexit.register(print, 'bye')\natexit.register(lambda: 1/0)",
    "thread outlives main": "import threading, time\nthreading.Timer(0.05, print, ['t']).start()\nprint('m')",
    "daemon thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    "uncaught in a thread": "import threading\nt = threading.Thread(target=lambda: 1/0, name='T')\nt.start()\nt.join()",
    "large thread stack": "import threading\nthreading.stack_size(64 << 20)\nthreading.Thread(target=print).start()",
    "finalizer": "class A:\n  def __del__(self): print('del', A)\na = A()\ndef f(): return a",
    "finalizer of a cycle": "class A:\n  def __del__(self): print('del')\na = A()\na.a = a",
    "suspended generator": "def g():\n  try: yield\n  finally: print('end')\nx = g()\nnext(x)",
    "closed stdout": "import sys\nprint('x')\nsys.stdout.close()",
    "descriptor 1 closed": "import os\nprint('x')\nos.close(1)",
    "stdout None": "import sys\nsys.stdout = None\nprint('x')",
    "own hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[1])\n1/0",
    "hook that fails": "import sys\nsys.excepthook = lambda *a: {}[1]\n1/0",
    "hook that exits": "import sys\nsys.excepthook = lambda *a: sys.exit(6)\n1/0",
    "own source": "import inspect\ndef f(): pass\nprint(inspect.getsource(f), open(__file__).read())",
    "main module": "import __main__, pickle\nclass A: pass\nprint(vars(__main__) is globals())\n"
    "print(pickle.loads(pickle.dumps(A)))",
    "import beside the file": "import beside",
    "string annotations": "import typing\nclass A:\n  x: 'A'\nprint(typing.get_type_hints(A))",
    "fork a worker": "import multiprocessing as m\np = m.Process(target=print)\np.start()\np.join()\nprint(p.exitcode)",
    "pool of workers": "import multiprocessing as m\ndef f(x): return x * x\n"
    "with m.Pool(2) as p: print(p.map(f, [1, 2]))",
    "spawn a worker": "import multiprocessing as m\ndef f(): print('f', flush=True)\nif __name__ == '__main__':\n"
    "  p = m.get_context('spawn').Process(target=f)\n  p.start()\n  p.join()\n  print(p.exitcode)",
    "subprocess": "import subprocess, sys\nprint(subprocess.check_output([sys.executable, '-c', 'print(1)']))",
    "unittest": "import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(1, 2)\n"
    "unittest.main(argv=['t'])",
    "asyncio": "import asyncio\nasync def f(): print('a')\nasyncio.run(f())",
    "integer with many digits": "print(10**5000)",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**6)\ndef f(n): return n and f(n - 1) + 1\nprint(f(20000))",
}


@pytest.fixture(scope="module")
def box():
    with supervised_container() as box:
        yield box


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_fork_of_the_interpreter_runs_a_program_as_a_fresh_one_does(box, name):
    seen = []
    for start in ("fork", "exec"):
        files = {"beside.py": b"print('beside')"}
        program = box.run(PROGRAMS[name], stdin=b"one\r\ntwo\n\xff", files=files, start=start).program
        texts = [
            re.sub(rb"0x[0-9a-f]+|/tmp/[0-9a-f]{16}|in \d\.\d+s", b"...", text)
            for text in (program.stdout, program.stderr)
        ]
        seen.append((program.end, program.exit_code, *texts))
    assert seen[0] == seen[1]


def test_forks_share_no_random_numbers(box):
    source = "import random, uuid, tempfile; print(random.random(), random.Random().random(), uuid.uuid4())"
    assert box.run(source).program.stdout != box.run(source).program.stdout


def test_what_a_program_does_to_modules_is_gone_in_the_next(box):
    box.run("import json, builtins\njson.loads = None\nbuiltins.print = None\nimport sys\nsys.modules['math'] = None")
    assert box.run("import json, math; print(json.loads('1'))").program.stdout == b"1\n"


def test_a_program_that_is_no_file_of_the_request_is_run_by_the_interpreter_itself(box):
    done = box.run(argv=("python3", "absent.py"))
    assert done.program.exit_code == 2
    assert b"can't open file" in done.program.stderr
    assert box.run(argv=("python3", "-c", "print(1)")).program.stdout == b"1\n"
