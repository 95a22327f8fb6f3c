"""What is carried into the sandbox."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

import verifiers.code.inside
from sandbox import End, Limits, Program, Sandbox
from verifiers.code.bundle import judge_of, program_files
from verifiers.code.judged import _JUDGE, _SERVER

INSIDE = sorted(Path(verifiers.code.inside.__file__).parent.glob("*.py"))
JOB = b'{"module":"solution","function":"f","cases":[[{"t":[]},{"d":[]}]]}'


@pytest.mark.parametrize("magic", [importlib.util.MAGIC_NUMBER, b"another version"])
def test_code_and_source_do_the_same(sandbox: Sandbox, magic: bytes):
    files = program_files("wire", "solution", "function_driver")
    start = files["main.py"].replace(repr(importlib.util.MAGIC_NUMBER).encode(), repr(magic).encode())
    program = Program(
        argv=("python3", "main.py"), files={**files, "main.py": start, "solution.py": b"f = lambda: 7"}, stdin=JOB
    )
    execution = sandbox.run(program, Limits())
    assert (execution.end, execution.stdout) == (End.EXITED, b'{"case":0,"value":7}\n')


def test_the_judges_job_follows_its_modules():
    judge = judge_of("wire", job=b"JOB")
    assert judge.stdin.endswith(b"JOB")
    assert judge_of("wire", job=b"JOB") == judge


@pytest.mark.parametrize("file", INSIDE, ids=lambda file: file.stem)
def test_modules_inside_import_the_standard_library_and_each_other(file: Path):
    for node in ast.walk(ast.parse(file.read_text())):
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            assert name is not None
            assert name.startswith("verifiers.code.inside.") or name.partition(".")[0] in sys.stdlib_module_names


@pytest.mark.parametrize("names", [_SERVER, (*_JUDGE, "mini_pytest", "collecting", "pytest_judge")])
def test_modules_stand_after_those_that_they_import(names: tuple[str, ...]):
    sources = {file.stem: file.read_text() for file in INSIDE}
    for place, name in enumerate(names):
        for other in names[place + 1 :]:
            assert f"from verifiers.code.inside.{other} import" not in sources[name]
