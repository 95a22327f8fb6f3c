import pytest
from support.containers import containers_of, wait_until
from support.docker_engine import require_docker

from benchmarks.sandbox_chaos import chaos
from sandbox.docker_sandbox import DockerSandbox


@pytest.mark.slow
def test_every_verdict_is_right_while_containers_are_killed():
    require_docker()
    with DockerSandbox(containers=2) as sandbox:
        outcome = chaos(sandbox, programs=200, threads=4)
        metrics = sandbox.metrics
    assert not outcome.wrong
    assert not outcome.failed
    assert outcome.right == metrics.runs == 200
    assert outcome.kills >= 10
    assert metrics.lost >= 5
    wait_until(lambda: not containers_of(sandbox.run_label), "no container is left")
