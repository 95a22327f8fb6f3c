import pytest

from sandbox import End, Execution, FakeSandbox
from sandbox.conformance import self_check
from sandbox.containment_checks import CONTAINMENT_CHECKS
from sandbox.contract_checks import CONTRACT_CHECKS
from sandbox.docker_sandbox import DockerSandbox

CHECKS = [*CONTRACT_CHECKS, *CONTAINMENT_CHECKS]
NOTHING = Execution(end=End.EXITED, exit_code=0)
"""What a sandbox finds that runs no program at all."""


@pytest.mark.parametrize("name", CHECKS)
def test_docker_passes(docker_sandbox: DockerSandbox, name: str):
    (check,) = self_check(docker_sandbox, only=[name])
    assert check.passed, str(check)


def test_a_sandbox_that_runs_nothing_keeps_no_contract():
    idle = FakeSandbox(lambda program, limits: NOTHING, judged=lambda program, judge, limits: (NOTHING, NOTHING))
    checks = self_check(idle, only=list(CONTRACT_CHECKS))
    assert not [check.name for check in checks if check.passed]


def test_every_check_is_reported_with_what_it_asks():
    told = []
    idle = FakeSandbox(lambda program, limits: NOTHING)
    assert self_check(idle, only=["exits", "network"], report=told.append) == told
    assert [(check.name, check.passed) for check in told] == [("exits", False), ("network", True)]
    assert told[1].detail == "There is no network but the loopback"
    assert all("\n" not in str(check) for check in told)


def test_an_unknown_check_is_an_error():
    with pytest.raises(ValueError, match="no check named speed"):
        self_check(FakeSandbox(()), only=["speed"])
