import functools
import sys

import pytest
from support.docker_engine import require_docker, sandbox_image

import sandbox.conformance
import sandbox.docker_sandbox
from rlvr.cli.main import main
from sandbox.conformance import Check, CheckKind, self_check
from sandbox.fake_sandbox import FakeSandbox
from sandbox.image import build_image
from sandbox.types import End, Execution


def exit_code(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["rlvr", "sandbox", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


def test_build_names_the_image_and_does_nothing_twice(monkeypatch, capsys):
    image = build_image(require_docker())

    assert exit_code(monkeypatch, "build") == 0

    shown = capsys.readouterr()
    assert shown.out.startswith(f"{image.tag} was there already on {require_docker().url}")
    assert shown.err == ""


def test_an_engine_that_does_not_answer_is_one_line(monkeypatch, capsys, tmp_path):
    assert exit_code(monkeypatch, "build", "--docker-host", f"unix://{tmp_path}/docker.sock") == 2

    shown = capsys.readouterr()
    assert shown.err.startswith("error: no Docker engine answers at unix://")
    assert shown.err.count("\n") == 1


def test_two_sources_of_one_image_are_refused(monkeypatch, capsys):
    assert exit_code(monkeypatch, "build", "--dockerfile", "Dockerfile", "--base-image", "python") == 2

    assert "not both" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "source"),
    [
        (["--dockerfile", "/no/Dockerfile"], "no Dockerfile at /no/Dockerfile"),
        (["--with", "no such, thing"], "no such"),
    ],
)
def test_what_cannot_be_built_is_one_line(monkeypatch, capsys, options, source):
    require_docker()
    assert exit_code(monkeypatch, "build", *options) == 2

    assert source in capsys.readouterr().err.splitlines()[-1]


def test_check_reports_each_check_on_the_real_engine(monkeypatch, capsys):
    sandbox_image()
    some = functools.partial(self_check, only=["exits", "network", "read_only"])
    monkeypatch.setattr(sandbox.conformance, "self_check", some)

    assert exit_code(monkeypatch, "check", "--docker-host", require_docker().url) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[1:4]] == [["ok", "exits"], ["ok", "network"], ["ok", "read_only"]]
    assert lines[-1] == "3 of 3 checks passed"


def test_a_failed_check_is_told_with_what_to_do_and_exit_code_1(monkeypatch, capsys):
    failed = Check(name="network", kind=CheckKind.CONTAINMENT, passed=False, detail="reached the host", wall_s=1.0)

    class Uncontained(FakeSandbox):
        def __init__(self, **settings: object) -> None:
            super().__init__(lambda program, limits: Execution(end=End.EXITED))

        def __enter__(self):
            return self

        def __exit__(self, *error: object) -> None:
            self.close()

    def check(sandbox, report):
        report(failed)
        return [failed]

    monkeypatch.setattr(sandbox.docker_sandbox, "DockerSandbox", Uncontained)
    monkeypatch.setattr(sandbox.conformance, "self_check", check)

    assert exit_code(monkeypatch, "check") == 1

    shown = capsys.readouterr()
    assert "not contained" in shown.out
    assert "reached the host" in shown.out
    assert "do not run programs" in shown.err
