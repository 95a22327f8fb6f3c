"""The task's problems: are there any, do the splits overlap, do they fit the model."""

from collections.abc import Iterator, Sequence
from itertools import islice

from rlvr.cli.doctor.findings import Finding, blocker, note, ok, percent, warning
from rlvr.errors import PromptTooLongError
from rlvr.evaluation.contamination import Overlap, contamination
from rlvr.rollout.prompts import PromptEncoder
from tasks.types import Problem

LOOKED_AT = 5000
"""Problems of a split that are read; a split may make millions of problems when asked."""
_MANY_PASSES = 30
_SHARE_THAT_MATTERS = 0.01


def check_splits(train: Sequence[Problem], held_out: Sequence[Problem], *, split: str, drawn: int) -> Iterator[Finding]:
    """Compare the training problems with the held-out ones.

    Args:
        split: name of the held-out split.
        drawn: problems that the whole run draws, repeats included.
    """
    train_prompts, held_out_prompts = _prompts(train), _prompts(held_out)
    yield ok(f"{len(train):,} training problems, {len(held_out):,} held-out ones (split {split!r})")
    for name, problems, prompts in (("training", train, train_prompts), ("held-out", held_out, held_out_prompts)):
        yield from _repeats(name, prompts, made_when_asked=not isinstance(problems, list | tuple))
    yield _overlap(contamination(train, held_out))
    if drawn > _MANY_PASSES * len(train):
        yield note(
            f"the run goes {drawn / len(train):.0f} times through its training problems",
            "watch the gap between training and held-out pass rate (eval/train_gap); more problems would help",
        )


def _overlap(found: Overlap) -> Finding:
    if not (found.verbatim or found.half):
        return ok(found.sentence())
    first = found.examples[0]
    told = f"{found.sentence()}; for instance {first.held_out} and {first.train}"
    if found.verbatim:
        return warning(told, "leave them out of the training data, or the held-out pass rate measures memory")
    return note(told, "look at some: where only the wording is shared, all is well")


def _repeats(name: str, prompts: Sequence[str], *, made_when_asked: bool) -> Iterator[Finding]:
    different = len(set(prompts))
    share = 1 - different / len(prompts)
    if not share:
        return
    if made_when_asked:
        yield note(
            f"the task makes {different:,} different prompts in its first {len(prompts):,} {name} problems",
            "where that is too little variety, widen the task's options" if share > _SHARE_THAT_MATTERS else "",
        )
        return
    yield (warning if share > _SHARE_THAT_MATTERS else note)(
        f"{percent(share)} of the {name} problems repeat another one's prompt",
        "leave repeats out of the data: they count double"
        + (", and make intervals too narrow" if name == "held-out" else ""),
    )


def check_prompt_lengths(
    encoder: PromptEncoder, problems: Sequence[Problem], *, whose: str, context_length: int, max_new_tokens: int
) -> Finding:
    """See whether every prompt leaves room for a response.

    Args:
        whose: the problems in words, for instance "training".
    """
    looked_at = list(islice(problems, LOOKED_AT))
    try:
        lengths = [len(ids) for ids in encoder.encode(looked_at)]
    except PromptTooLongError as error:
        what, _, advice = str(error).rpartition("; ")
        return blocker(what, advice)
    longest = max(lengths)
    read = f"the first {len(lengths):,}" if len(lengths) < len(problems) else f"{len(lengths):,}"
    return ok(
        f"the longest of {read} {whose} prompts has {longest} tokens, a response up to {max_new_tokens}: "
        f"together {percent((longest + max_new_tokens) / context_length)} of the context of {context_length}"
    )


def check_demonstrations(
    encoder: PromptEncoder,
    problems: Sequence[Problem],
    *,
    sft_steps: int,
    context_length: int,
    max_new_tokens: int,
) -> Iterator[Finding]:
    """See whether the warm start has something to imitate that fits."""
    if not sft_steps:
        yield ok("no warm start (sft.steps = 0), so no demonstrations are needed")
        return
    looked_at = list(islice(problems, LOOKED_AT))
    shown = [problem for problem in looked_at if problem.demonstration is not None]
    if not shown:
        yield blocker(
            f"sft.steps is {sft_steps}, and none of {len(looked_at):,} training problems has a demonstration",
            "set sft.steps = 0, or give the task demonstrations",
        )
        return
    prompts = [len(ids) for ids in encoder.encode(shown)]
    responses = [len(ids) + 1 for ids in encoder.encode_demonstrations([str(p.demonstration) for p in shown])]
    too_long = [p for p, a, b in zip(shown, prompts, responses, strict=True) if a + b > context_length]
    if too_long:
        yield blocker(
            f"{len(too_long)} of {len(shown):,} demonstrations do not fit the context of {context_length} tokens, the "
            f"first of problem {too_long[0].id}",
            "leave such problems out of the data",
        )
    over = sum(length > max_new_tokens for length in responses)
    if over:
        yield (warning if over > _SHARE_THAT_MATTERS * len(shown) else note)(
            f"{percent(over / len(shown))} of the demonstrations are longer than rollout.max_new_tokens = "
            f"{max_new_tokens}: responses like them will be cut off",
            f"raise rollout.max_new_tokens to {max(responses)}",
        )
    else:
        yield ok(
            f"{len(shown):,} of {len(looked_at):,} training problems have a demonstration, of {max(responses)} tokens "
            "at most"
        )


def _prompts(problems: Sequence[Problem]) -> list[str]:
    return [" ".join(problem.prompt.split()) for problem in islice(problems, LOOKED_AT)]
