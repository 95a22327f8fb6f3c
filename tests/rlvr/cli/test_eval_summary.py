"""What people read after an evaluation, made from what evaluation.json holds."""

from typing import Any

from rlvr.cli.eval_summary import summary_lines
from rlvr.evaluation.pass_rate import pass_rate


def row(problem: int, sample: int, *, right: bool = True, **more: Any) -> dict[str, Any]:
    verdict = {"outcome": "correct", "answer": "1"} if right else {"outcome": "incorrect", "answer": "2"}
    lengths = {"tokens": 5, "prompt_tokens": 7, "finish": "stop"}
    return {"problem": f"p{problem}", "sample": sample, "text": "", **lengths, **verdict, **more}


def record(samples: int = 2, *, changed: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    sampled = [row(p, s, right=s == 0) for p in range(10) for s in range(samples)]
    sampled[0] |= changed or {}
    modes = {
        "greedy": pass_rate([row(p, 0) for p in range(10)], temperature=0.0).as_record(),
        "sampled": pass_rate(sampled, temperature=1.0).as_record(),
    }
    return {"modes": modes, "sampling": {"max_new_tokens": 40}, **more}


def shown(made: dict[str, Any], *, price_in: float | None = None, price_out: float | None = None) -> str:
    return "\n".join(summary_lines(made, price_in=price_in, price_out=price_out))


def test_every_rate_stands_beside_its_interval():
    [greedy, sampled, _, head, at_1, at_2, *_] = shown(record()).splitlines()
    assert greedy.startswith("  greedy   100.0 % [72.2, 100.0]")
    assert sampled.startswith("  sampled  50.0 % [")
    names = ["pass@k", "pass^k", "maj@k"]
    assert [head.index(name) for name in names] == sorted(head.index(name) for name in names)
    assert at_1.split()[:3] == ["1", "50.0", "%"]
    assert at_2.split()[:3] == ["2", "100.0", "%"]
    assert at_2[head.index("pass^k") :].startswith("0.0 % [0.0, 27.8]")
    assert len({line.index("%") for line in (at_1, at_2)}) <= 2


def test_one_sampled_response_per_problem_says_how_to_get_more():
    assert "--samples 8, say, adds pass@k" in shown(record(1))
    assert "in brackets: 95 % intervals (Wilson)" in shown(record(1))


def test_responses_that_could_not_be_judged_are_told_apart():
    text = shown(record(changed={"outcome": None, "error": "the worker died"}))
    assert "n 19 " in text
    assert "not judged 1" in text
    assert "warning: 1 responses could not be judged, a verifier failed and not the model" in text


def test_none_judged_is_no_crash():
    made = record(1)
    made["modes"]["sampled"] = pass_rate(
        [row(p, s, outcome=None) for p in range(3) for s in range(2)], temperature=1.0
    ).as_record()
    assert "sampled  none judged" in shown(made)


def test_truncation_is_warned_of_with_what_to_raise():
    made = record(1)
    assert "warning" not in shown(made)
    made["modes"]["greedy"]["truncated_frac"] = 0.5
    assert "warning: 50" in shown(made)
    assert "reached the limit of 40 tokens" in shown(made)


def test_the_cost_is_in_tokens_and_at_prices_in_money():
    usage = {"requests": 1500, "prompt_tokens": 2_000_000, "completion_tokens": 500_000, "uncounted": 0}
    assert "endpoint" not in shown(record())
    assert "1,500 requests: 2,000,000 prompt and 500,000 response tokens" in shown(record(usage=usage))
    assert ", 7.0000 at 1 and 10 per million" in shown(record(usage=usage), price_in=1.0, price_out=10.0)
    assert "2 answers came without token counts" in shown(record(usage={**usage, "uncounted": 2}))
