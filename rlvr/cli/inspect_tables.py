"""What `rlvr inspect` prints: steps, problems, and a rollout token by token."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlvr.cli.text_table import aligned, one_line, printable, quoted
from rlvr.report.token_numbers import TOKEN_NUMBERS, token_numbers
from rlvr.tracking.rates import percent

SHOWN = ("problem", "sample", "outcome", "score", "reward", "finish", "tokens", "kl", "answer", "error")
"""Columns of the list of a step's or an evaluation's responses, where they have them."""

_WORDS = ("phase", "mode", "problem", "outcome", "finish", "answer", "error")


def rollout_record(
    row: Mapping[str, Any], step: int, samples: int, texts: Sequence[str], *, probe: bool = False
) -> dict[str, Any]:
    """Return a rollout with one entry for each token.

    Args:
        row: of the run's rollouts, its number among those of the problem included.
        samples: how many responses the problem has at this step.
        texts: of the tokens.
        probe: whether it is one of the policy after the step, and no update followed, rather than a training rollout.
    """
    columns = token_numbers(row)
    if probe:
        columns.pop("ratio", None)
    plain = ("problem", "sample", "prompt", "text", "outcome", "score", "answer", "detail", "reward", "finish", "kl")
    return {
        "step": step,
        **({"probe": True} if probe else {}),
        "samples": samples,
        **{name: row.get(name) for name in (*plain, "policy_step")},
        "sums": {name: _sum(columns[name]) for name in ("reward", "k1", "exact_kl", "logprob") if name in columns},
        "tokens": [
            {
                "index": index,
                "id": token,
                "text": texts[index],
                "sampled": row["mask"][index],
                **{name: values[index] for name, values in columns.items()},
            }
            for index, token in enumerate(row["token_ids"])
        ],
    }


def rollout_lines(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield a rollout as `rollout_record` makes it: what was asked and found, then the table of tokens."""
    of = f" of {record['samples']} (--sample)" if record["samples"] > 1 else ""
    probe = "probe" in record
    where = f"held-out probe, the policy after step {record['step']}" if probe else f"step {record['step']}"
    yield f"{where}, {printable(record['problem'])}, response {record['sample']}{of}"
    yield from _text_lines("prompt", record["prompt"])
    yield from _text_lines("text", record["text"])
    yield f"verdict   {_verdict(record)}"
    tokens, sums = record["tokens"], record["sums"]
    yield f"reward    {record['reward']:g}, finish {record['finish']}, {len(tokens)} tokens"
    names = {"reward": "token rewards", "k1": "KL (k1)", "exact_kl": "exact KL", "logprob": "log-prob"}
    yield "sums      " + "   ".join(f"{names[name]} {_number(value)}" for name, value in sums.items())
    yield ""
    heads = [name for name in TOKEN_NUMBERS if tokens and name in tokens[0]]
    fed = any(not token["sampled"] for token in tokens)
    yield from aligned(
        ["token", *heads, *(["fed"] if fed else [])],
        [
            [
                f"{token['index']:>5} {quoted(token['text'])}",
                *(_number(token[name]) for name in heads),
                *(["" if token["sampled"] else "fed"] if fed else []),
            ]
            for token in tokens
        ],
    )
    absent = [name for name in TOKEN_NUMBERS if name not in heads and not (probe and name == "ratio")]
    if absent and tokens:
        yield f"not recorded by the version that made this run: {', '.join(absent)}"
    if probe:
        yield "sampled, and not trained on: advantages are not whitened, and a ratio is not applicable"
    if fed:
        yield "fed: by the environment, not sampled by the policy; such tokens are in no loss"


def step_lines(steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each step that has rollouts."""
    yield from aligned(
        ["step", "pass rate", "reward", "KL", "tokens"],
        [
            [
                f"{one['step']:>4}",
                percent(one.get("verify/pass_rate")),
                _number(one.get("reward/mean")),
                _number(one.get("kl/per_response")),
                _number(one.get("rollout/response_tokens")),
            ]
            for one in steps
        ],
    )


def problem_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each response of a step or of evaluations."""
    heads = [name for name in ("phase", "step", "mode", *SHOWN) if any(row.get(name) is not None for row in rows)]
    yield from aligned(
        heads,
        [[_cell(name, row.get(name)) for name in heads] for row in rows],
        words=[place for place, name in enumerate(heads) if name in _WORDS],
    )


def held_out_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the held-out responses to one problem over the course of a run."""
    yield printable(rows[0]["problem"])
    yield from _text_lines("prompt", rows[0].get("prompt") or "")
    for row in rows:
        tokens = f", {row['tokens']} tokens" if "tokens" in row else ""
        yield ""
        where = f"{row['phase']} {row['step']}, {row['mode']}, response {row.get('sample', 0)}"
        yield f"{where}: finish {row['finish']}{tokens}"
        yield from _text_lines("text", row["text"])
        yield f"verdict   {_verdict(row)}"
        for name, found in (row.get("audit") or {}).items():
            yield f"audit     {printable(name)}: {_verdict(found)}"


def _text_lines(label: str, text: str) -> Iterator[str]:
    # Split at line feeds alone: other line breaks are shown escaped.
    for number, line in enumerate(text.split("\n")):
        yield f"{label if number == 0 else '':<10}{printable(line)}".rstrip()


def _verdict(row: Mapping[str, Any]) -> str:
    if row["outcome"] is None:
        return f"could not be judged: {printable(str(row.get('error', '')))}"
    answer = "" if row.get("answer") is None else f", answer {one_line(str(row['answer']), 200)}"
    detail = f": {printable(str(row['detail']))}" if row.get("detail") else ""
    return f"{row['outcome']}, score {row['score']:g}{answer}{detail}"


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) if len(known) == len(values) else None


def _cell(name: str, value: Any) -> str:
    if value is None or name in (*_WORDS, "sample", "tokens", "step"):
        return "-" if value is None else one_line(str(value), 60)
    return _number(value)


def _number(value: float | None) -> str:
    # Adding zero makes -0.0 a plain one.
    return "-" if value is None else f"{round(value, 4) + 0.0:.4f}"
