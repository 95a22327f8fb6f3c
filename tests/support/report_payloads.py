"""Payloads of report pages made by hand: whole, just begun, poor in data, and full of hostile text."""

import math
from typing import Any

HOSTILE = (
    '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 2">'
    "<svg onload='window.hacked = 3'></svg>\"'`${window.hacked = 4}`{{ 7 * 7 }}-->]]>&lt;"
    "\x00\x07\x1b[31m\ud800 \udfff\u202egnp.exe\u2028\u200b\ufeff \U0001f469\u200d\U0001f4bb \u05d0\u05d1"
)
STEPS = 10
MEANINGS = {
    "reward/mean": "Terminal reward, mean over the step's rollouts.",
    "kl/per_response": "KL of policy from reference summed over a response (k1), mean in nats.",
    "critic/explained_variance": "1 is perfect, 0 no better than a constant.",
    "verify/failed_frac": "Share of responses dropped because judging failed.",
}


def response(step: int, problem: int, tokens: list[str], *, outcome: str | None = "correct", **changes: Any) -> dict:
    """Return a response of the rollout browser; the i-th token has value 0.1 * i and advantage i - 1."""
    count = len(tokens)
    logprobs = [-0.5 - 0.25 * i for i in range(count)]
    return {
        "step": step, "problem": problem, "sample": 0, "why": ["recurs"], "outcome": outcome, "score": 1.0,
        "answer": "7", "detail": "equals '7'", "reward": 1.0, "finish": "stop", "kl": 0.5, "tokens": tokens,
        "advantage": [i - 1.0 for i in range(count)], "value": [round(0.1 * i, 3) for i in range(count)],
        "reward_token": [0.0] * (count - 1) + [1.0], "return": [1.0] * count, "logprob": logprobs,
        "ref_logprob": [value - 0.125 for value in logprobs], "kl_token": [0.125] * count,
        "exact_kl": [0.05 * i for i in range(count)], "entropy": [0.2] * count,
        "ratio": [1.0 + 0.01 * i for i in range(count)],
    } | changes  # fmt: skip


def whole_run(name: str = "run-a") -> dict[str, Any]:
    """Return a run that has everything; problem 0 was drawn at all three steps of its browser."""
    steps = list(range(1, STEPS + 1))
    rate = {"low": 0.2, "high": 0.6, "n": 200}
    evaluations = [
        {
            "phase": "ppo" if step else "sft", "step": step, "rollouts": 64 * step, "tokens": 1600 * step,
            "wall_s": 60.0 + 30 * step, "train_pass_rate": 0.4 if step else None,
            "greedy": {"pass_rate": 0.3 + 0.05 * step, **rate},
            "sampled": {"pass_rate": 0.25 + 0.05 * step, **rate,
                        "pass_at_k": {"1": {"value": 0.25, "low": 0.2, "high": 0.3},
                                      "4": {"value": 0.8, "low": 0.7, "high": 0.9}},
                        "truncated_frac": 0.0, "no_answer_frac": 0.01},
            "audit": {"math": {"pass_rate": 0.2 + 0.05 * step, "low": 0.1, "high": 0.5}},
            "metrics": {"eval/audit_gap": 0.05, **({"eval/train_gap": 0.01 * step} if step else {})},
        }
        for step in (0, 5, 10)
    ]  # fmt: skip
    return {
        "name": name, "path": f"runs/{name}", "finished": True, "facts": [["task", "arithmetic"], ["seed", name]],
        "config": "[run]\nseed = 0\n",
        "headline": {"text": "Greedy held-out pass rate rose from 30.0 % to 80.0 %.", "paired": None,
                     "before": {"label": "after SFT", "greedy": "30.0 % [20.0, 60.0]", "sampled": "25.0 %", "n": 200},
                     "after": {"label": "after PPO", "greedy": "80.0 % [20.0, 60.0]", "sampled": None, "n": 200}},
        "warnings": [
            {"level": "note", "title": "One seed", "text": "Repeat it.", "step": None, "metric": None},
            {"level": "alarm", "title": "KL blow-up", "text": "Raise `kl_coef`.", "step": 7,
             "metric": "kl/per_response"},
        ],
        "evaluations": evaluations,
        "steps": {"step": steps, "rollouts": [64 * step for step in steps], "tokens": [1600 * step for step in steps],
                  "wall_s": [60.0 + 30 * step for step in steps]},
        "metrics": {
            "reward/mean": [0.1 * step for step in steps],
            "kl/per_response": [None, math.nan, *(0.5 * step for step in steps[2:])],
            "critic/explained_variance": [-0.1 + 0.02 * step for step in steps],
            "verify/failed_frac": [0.0] * STEPS,
        },
        "times": [{"stage": "rollout", "seconds": 90.0, "share": 0.75},
                  {"stage": "other", "seconds": 30.0, "share": 0.25}],
        "failures": [{"what": "responses without a verdict", "count": 3, "share": 0.01, "text": "Left out."}],
        "browser": {
            "steps": [1, 5, 10],
            "problems": [{"id": "sums/train/0", "prompt": "3+4="}, {"id": "sums/train/1", "prompt": "9+9="}],
            "responses": [
                response(1, 0, ["3", "+", "4", "\n", " ", " is", "<eos>"], outcome="incorrect", reward=0.0),
                response(5, 0, ["so", " 7", "<eos>"]),
                response(10, 0, ["7", "<eos>"]),
                response(10, 1, ["1", "9", "<eos>"], outcome="no_answer", reward=0.0, finish="length"),
            ],
        },
        "heldout": [
            {"id": "sums/test/0", "prompt": "1+1=", "answers": [
                {"step": 0, "phase": "sft", "outcome": "incorrect", "finish": "stop", "text": "3",
                 "answer": "3", "detail": ""},
                {"step": 10, "phase": "ppo", "outcome": None, "finish": "length", "text": "2",
                 "answer": None, "detail": None},
            ]},
        ],
    }  # fmt: skip


def probed_run(name: str = "probed") -> dict[str, Any]:
    """Return a whole run with probes after 0, 5 and 10 steps: problem 2 is learned, problem 3 is right throughout."""
    run = whole_run(name)
    browser = run["browser"]
    browser["probe_steps"] = [0, 5, 10]
    browser["problems"] += [{"id": "sums/test/0", "prompt": "2+5="}, {"id": "sums/test/1", "prompt": "1+1="}]
    for step, tokens, outcome in (
        (0, ["9", "<eos>"], "incorrect"),
        (5, ["2", "+", "<eos>"], "incorrect"),
        (10, ["7", " ", "=", "<eos>"], "correct"),
    ):
        probe = {"probe": True, "ratio": None, "why": []}
        browser["responses"] += [
            response(step, 2, tokens, outcome=outcome, **probe),
            response(step, 3, ["2", "<eos>"], **probe),
        ]
    return run


def begun_run(name: str = "begun") -> dict[str, Any]:
    """Return a run without a step, an evaluation or a rollout."""
    return whole_run(name) | {
        "finished": False, "evaluations": [], "metrics": {}, "times": [], "failures": [], "warnings": [],
        "steps": {"step": [], "rollouts": [], "tokens": [], "wall_s": []}, "browser": None, "heldout": [], "facts": [],
        "headline": {"text": "No evaluation yet.", "before": None, "after": None, "paired": None},
    }  # fmt: skip


def poor_run(name: str = "poor") -> dict[str, Any]:
    """Return a run without critic, audits and axes other than the step, evaluated once, its last response shortened."""
    run = whole_run(name)
    missing = {"advantage": None, "value": None, "exact_kl": None, "entropy": None, "ratio": None, "return": None}
    gap = " [... 1,000 tokens left out ...] "
    shortened = response(
        10, 1, ["a", gap, "b"], omitted=1000, logprob=[-1.0, None, -2.0], reward_token=[0.0, None, 1.0]
    )
    run["browser"]["responses"] = [one | missing for one in [*run["browser"]["responses"][:3], shortened]]
    run["evaluations"] = [
        run["evaluations"][0] | {"rollouts": None, "tokens": None, "audit": {}, "sampled": None},
    ]
    run["evaluations"][0]["greedy"] |= {"low": None, "high": None}
    run["steps"] |= {"rollouts": [None] * STEPS, "tokens": [None] * STEPS}
    return run


def hostile_run() -> dict[str, Any]:
    """Return a run in which every text that others wrote is hostile, one token a megabyte long."""
    run = whole_run(HOSTILE)
    run["config"] = run["headline"]["text"] = HOSTILE
    run["facts"] = [[HOSTILE, HOSTILE]]
    run["warnings"] = [{"level": HOSTILE, "title": HOSTILE, "text": HOSTILE, "step": None, "metric": HOSTILE}]
    run["failures"] = [{"what": HOSTILE, "count": None, "share": None, "text": HOSTILE}]
    run["metrics"][HOSTILE] = [math.inf, *(float(step) for step in range(STEPS - 1))]
    run["browser"]["problems"][0] = {"id": HOSTILE, "prompt": HOSTILE}
    run["browser"]["responses"][2] |= {
        "detail": HOSTILE, "answer": HOSTILE, "outcome": HOSTILE, "why": [HOSTILE], "prompt": HOSTILE,
        **response(10, 0, [HOSTILE, "<script>window.hacked = 5</script>" * 30_000, "\U0001f600", "\t\n", "\r"])
        | {"detail": HOSTILE, "outcome": HOSTILE},
    }  # fmt: skip
    unseen = "seen\U000e0068\U000e0069\u3164\xad \U0001f469\u200d\U0001f4bb\u2764\ufe0f"
    run["browser"]["responses"].append(response(1, 1, [unseen]))
    run["heldout"][0]["answers"][0] |= {"text": HOSTILE, "detail": HOSTILE, "outcome": HOSTILE}
    return run


def payload_of(*runs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the payload of a report on `runs`."""
    return {
        "title": "A report", "made": "2026-01-02T03:04:05+00:00", "version": "0.0.0", "refresh_s": None,
        "notes": ["Rollouts of 3 of 10 steps."], "runs": list(runs), "meanings": MEANINGS, "comparison": None,
    } | changes  # fmt: skip


COMPARISON = {
    "a": "run-a", "b": "run-b", "sentence": "Not distinguishable at this n = 200.",
    "rows": [{"label": "greedy", "a": "80.0 %", "b": "81.0 %", "difference": "+1.0 [-3.0, 5.0]"}],
}  # fmt: skip
