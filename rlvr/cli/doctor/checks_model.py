"""The model and its tokenizer: weights, chat template, end and padding tokens, what text becomes of tokens."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jinja2 import TemplateError

from rlvr.cli.doctor.findings import Finding, blocker, note, ok, percent, warning
from rlvr.models.loading import LoadedModel
from rlvr.rollout.prompts import PromptEncoder
from tasks.types import Problem

_ANSWER = "42 is the answer"


def check_weights(model: LoadedModel) -> Iterator[Finding]:
    """Look at the weights, the context and whether anything in the model is random."""
    module: Any = model.policy.module
    count = sum(parameter.numel() for parameter in module.parameters())
    told = f"{type(module).__name__}, {count / 1e6:,.1f} M parameters, {str(module.dtype).removeprefix('torch.')}"
    damaged = [name for name, parameter in module.named_parameters() if not torch.isfinite(parameter).all()]
    if damaged:
        yield blocker(
            f"{len(damaged)} weights of the model hold NaN or infinity, for instance {damaged[0]}",
            "take another copy of the model",
        )
    else:
        yield ok(told)
    if model.context_length == 2**20:
        yield note("the model's configuration does not say how long its context is, so none is enforced")
    training = [name for name, part in module.named_modules() if part.training]
    if training:
        yield blocker(
            f"{len(training)} parts of the model are in training mode, so dropout makes its log-probs random",
            "call eval() on it where it is loaded",
        )
    else:
        yield ok("dropout is off (the model stays in eval mode)")


def check_special_tokens(model: LoadedModel) -> Iterator[Finding]:
    """Look at what ends a response, at padding, and at ids that the model has no embedding for."""
    tokenizer: Any = model.tokenizer
    shown = ", ".join(f"{tokenizer.convert_ids_to_tokens(stop_id)!r} ({stop_id})" for stop_id in model.stop_ids)
    if tokenizer.eos_token_id is None:
        yield note(f"the tokenizer has no EOS token; its generation config ends a response at {shown}")
    else:
        yield ok(f"a response ends at {shown}")
    rows = model.policy.vocabulary_size
    beyond = [stop_id for stop_id in model.stop_ids if stop_id >= rows]
    if beyond:
        yield blocker(
            f"stop token {beyond[0]} lies outside the model's vocabulary of {rows}, so it is never sampled",
            "the tokenizer belongs to another model: put the two that belong together in one folder",
        )
    if len(tokenizer) > rows:
        yield warning(
            f"the tokenizer has {len(tokenizer)} tokens, the model's vocabulary {rows}: a token beyond it would crash",
            "the tokenizer belongs to another model, or the embeddings were not resized after tokens were added",
        )
    pad = tokenizer.pad_token_id
    if pad is None or pad in model.stop_ids:
        what = "there is no PAD token" if pad is None else "PAD is the same token as EOS"
        yield ok(f"{what}, which is harmless here: masks come from lengths, never from ids")
    else:
        yield ok(f"PAD is {tokenizer.pad_token!r} ({pad}), which nothing depends on: masks come from lengths")


def check_chat_template(
    model: LoadedModel, encoder: PromptEncoder, problem: Problem, *, setting: str
) -> Iterator[Finding]:
    """See how a prompt reaches the model.

    Args:
        problem: any one, to render.
        setting: the value of model.chat_template.
    """
    tokenizer: Any = model.tokenizer
    has_template = bool(getattr(tokenizer, "chat_template", None))
    if not has_template:
        yield ok("no chat template: the model sees the prompts as the task gives them")
    elif setting == "off":
        yield note(
            "the tokenizer has a chat template and it is off: the model sees bare prompts",
            'a chat model answers better with model.chat_template = "auto"',
        )
    else:
        shown = encoder.text(problem)
        yield ok(f"the chat template is used and renders; a prompt ends in {shown[-30:]!a}")
        yield from _template_findings(model, problem)
    ids = encoder.encode([problem])[0]
    bos = tokenizer.bos_token_id
    if bos is not None and ids[:2] == [bos, bos]:
        yield blocker(
            f"prompts begin with {tokenizer.bos_token!r} twice, which the model has never seen",
            "leave it out of the task's prompts: the tokenizer or the chat template adds it",
        )


def _template_findings(model: LoadedModel, problem: Problem) -> Iterator[Finding]:
    tokenizer: Any = model.tokenizer
    asked = [{"role": "user", "content": problem.prompt}]
    with_prompt = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
    if with_prompt == tokenizer.apply_chat_template(asked, tokenize=False):
        yield note(
            "the chat template marks no place where the answer begins (it ignores add_generation_prompt)",
            "the model may go on with the question; take a template that opens the assistant's turn",
        )
    try:
        answered = tokenizer.apply_chat_template([*asked, {"role": "assistant", "content": _ANSWER}], tokenize=False)
    except TemplateError:
        return
    after = answered.rpartition(_ANSWER)[2].strip()
    if not after:
        return
    first = tokenizer(after, add_special_tokens=False)["input_ids"][0]
    if first in model.stop_ids:
        yield ok(f"the chat template ends an answer with {tokenizer.convert_ids_to_tokens(first)!r}, a stop token")
    else:
        yield warning(
            f"the chat template ends an answer with {tokenizer.convert_ids_to_tokens(first)!r} ({first}), which is no "
            "stop token: responses may run on to the length limit",
            f"add {first} to eos_token_id in the model's generation_config.json",
        )


def check_text(model: LoadedModel, problems: Sequence[Problem]) -> Iterator[Finding]:
    """See whether the tokenizer keeps what prompts and demonstrations say."""
    tokenizer: Any = model.tokenizer
    prompts = tokenizer([problem.prompt for problem in problems], add_special_tokens=False)["input_ids"]
    unknown = tokenizer.unk_token_id
    if unknown is not None:
        hit = [problem for problem, ids in zip(problems, prompts, strict=True) if unknown in ids]
        if hit:
            lost = _first_unknown(tokenizer, hit[0].prompt)
            yield warning(
                f"{percent(len(hit) / len(problems))} of {len(problems)} prompts have characters that the tokenizer "
                f"does not know, for instance {lost} in {hit[0].id}",
                "the model cannot read them; take another model, or write the prompts without them",
            )
        else:
            yield ok(f"the tokenizer knows every character of {len(problems):,} prompts")
    shown = [problem for problem in problems if problem.demonstration is not None]
    if not shown:
        return
    texts = [str(problem.demonstration) for problem in shown]
    back = tokenizer.batch_decode(tokenizer(texts, add_special_tokens=False)["input_ids"], skip_special_tokens=True)
    changed = [
        (problem, text, found)
        for problem, text, found in zip(shown, texts, back, strict=True)
        if text.strip() != found.strip()
    ]
    if changed:
        problem, text, found = changed[0]
        place = next(
            (i for i, (a, b) in enumerate(zip(text, found, strict=False)) if a != b), min(len(text), len(found))
        )
        yield warning(
            f"{len(changed)} of {len(shown)} demonstrations change when they become tokens and text again, for "
            f"instance of {problem.id}: {text[place : place + 20]!a} becomes {found[place : place + 20]!a}",
            "the verifier will read the changed text; write demonstrations that the tokenizer keeps",
        )
    else:
        yield ok("demonstrations come back unchanged from tokens")


def _first_unknown(tokenizer: Any, text: str) -> str:
    for character in dict.fromkeys(text):
        if tokenizer.unk_token_id in tokenizer(character, add_special_tokens=False)["input_ids"]:
            return ascii(character)
    return "one"
