"""What the doctor says of models, tokenizers, their responses and their arithmetic: healthy ones and broken ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from support.tiny_models import IdTokenizer, random_tokens, tiny_module, tiny_policy
from support.tiny_runs import tiny_config
from support.training import EOS, actor_critic, perturbed, sampled_rollouts

from rlvr.cli import wiring
from rlvr.cli.doctor.checks_data import check_demonstrations, check_prompt_lengths
from rlvr.cli.doctor.checks_model import check_chat_template, check_special_tokens, check_text, check_weights
from rlvr.cli.doctor.checks_numerics import check_gaps, check_numerics
from rlvr.cli.doctor.checks_probe import Setting, check_latency, check_probe, probe_numbers
from rlvr.cli.doctor.findings import Finding, Level
from rlvr.cli.doctor.judging import JudgingTime
from rlvr.cli.doctor.model_shape import shape_of
from rlvr.cli.doctor.numerics import (
    alone_and_together,
    few_of,
    measure_numerics,
    sampled_alone_and_together,
)
from rlvr.cli.doctor.probe import Probe, draw_probe, sampling_cost
from rlvr.cli.doctor.resources import memory_of_run
from rlvr.models.causal_lm import CausalLM
from rlvr.models.loading import LoadedModel
from rlvr.models.reference import frozen_copy
from rlvr.rollout.local_engine import LocalEngine
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.rewards import RewardRule
from rlvr.rollout.types import Finish, Response, Rollout, RolloutEngine, Sampling
from rlvr.training.algorithm import Algorithm
from tasks.types import MathAnswer, Problem
from verifiers import load_verifier
from verifiers.errors import BadReferenceError
from verifiers.types import Outcome, Verdict

CHAT = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<eos>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def problem(prompt: str = "1+1=", *, name: str = "p/1", demonstration: str | None = None) -> Problem:
    return Problem(
        id=name,
        prompt=prompt,
        reference=MathAnswer(value="2", answer_format="marker:#"),
        verifier="numeric",
        demonstration=demonstration,
    )


@pytest.fixture
def model() -> LoadedModel:
    return wiring.build_model(tiny_config())


def encoder(model: LoadedModel, *, setting: str = "auto", max_new_tokens: int = 16) -> PromptEncoder:
    return PromptEncoder(
        model.tokenizer, chat_template=setting, context_length=model.context_length, max_new_tokens=max_new_tokens
    )


def levels(findings: Iterable[Finding]) -> list[Level]:
    return [finding.level for finding in findings]


def only(findings: Iterable[Finding], level: Level) -> Finding:
    (found,) = [finding for finding in findings if finding.level is level]
    return found


# weights and special tokens


def test_the_tiny_model_and_its_tokenizer_are_healthy(model: LoadedModel):
    assert set(levels([*check_weights(model), *check_special_tokens(model)])) == {Level.OK}


def test_weights_that_are_no_numbers_block(model: LoadedModel):
    module: Any = model.policy.module
    with torch.no_grad():
        module.model.norm.weight[0] = torch.nan
    assert "for instance model.norm.weight" in only(check_weights(model), Level.BLOCKER).what


def test_a_model_in_training_mode_blocks(model: LoadedModel):
    module: Any = model.policy.module
    module.train()
    assert "dropout makes its log-probs random" in only(check_weights(model), Level.BLOCKER).what


def test_a_context_that_is_not_known_is_noted(model: LoadedModel):
    assert levels(check_weights(replace(model, context_length=2**20))).count(Level.NOTE) == 1


def test_pad_equal_to_eos_is_called_harmless(model: LoadedModel):
    model.tokenizer.pad_token = model.tokenizer.eos_token
    told = [found.what for found in check_special_tokens(model)]
    assert "PAD is the same token as EOS, which is harmless here: masks come from lengths, never from ids" in told


def test_a_stop_token_outside_the_vocabulary_blocks(model: LoadedModel):
    broken = replace(model, stop_ids=(1, 5000))
    assert "stop token 5000 lies outside" in only(check_special_tokens(broken), Level.BLOCKER).what


def test_a_tokenizer_with_more_tokens_than_the_model_warns(model: LoadedModel):
    model.tokenizer.add_tokens(["<new>"])
    assert "would crash" in only(check_special_tokens(model), Level.WARNING).what


def test_a_tokenizer_without_eos_is_noted(model: LoadedModel):
    model.tokenizer.eos_token = None
    assert "its generation config ends a response" in only(check_special_tokens(model), Level.NOTE).what


# chat template


def chat_findings(model: LoadedModel, template: str, setting: str = "auto") -> list[Finding]:
    model.tokenizer.chat_template = template
    return list(check_chat_template(model, encoder(model, setting=setting), problem(), setting=setting))


def test_a_template_whose_turns_end_with_a_stop_token_is_healthy(model: LoadedModel):
    found = chat_findings(model, CHAT)
    assert levels(found) == [Level.OK, Level.OK]
    assert "a prompt ends in '<|user|>1+1=<eos><|assistant|>'" in found[0].what


def test_a_template_whose_turns_end_otherwise_warns(model: LoadedModel):
    found = only(chat_findings(model, CHAT.replace("<eos>", "~")), Level.WARNING)
    assert "ends an answer with '~'" in found.what
    assert "generation_config.json" in found.advice


def test_a_template_without_a_place_for_the_answer_is_noted(model: LoadedModel):
    assert "add_generation_prompt" in only(chat_findings(model, CHAT.partition("{% if")[0]), Level.NOTE).what


def test_a_template_that_is_off_is_noted(model: LoadedModel):
    assert levels(chat_findings(model, CHAT, "off")) == [Level.NOTE]


def test_no_template_is_fine(model: LoadedModel):
    assert levels(check_chat_template(model, encoder(model), problem(), setting="auto")) == [Level.OK]


def test_two_bos_tokens_block(model: LoadedModel):
    model.tokenizer.bos_token = "<unk>"
    found = check_chat_template(model, encoder(model), problem("<unk><unk>1+1="), setting="auto")
    assert "begin with '<unk>' twice" in only(found, Level.BLOCKER).what


# text


def test_text_that_the_tokenizer_knows_is_healthy(model: LoadedModel):
    assert levels(check_text(model, [problem(demonstration="#2")])) == [Level.OK, Level.OK]


def test_characters_that_the_tokenizer_does_not_know_warn_and_are_named(model: LoadedModel):
    found = only(check_text(model, [problem(), problem("\u00e9?", name="p/2")]), Level.WARNING)
    assert "50.0 % of 2 prompts" in found.what
    assert r"for instance '\xe9' in p/2" in found.what


def test_demonstrations_that_tokens_change_warn_with_the_place(model: LoadedModel):
    found = only(check_text(model, [problem(demonstration="so #\u00e92")]), Level.WARNING)
    assert r"of p/1: '\xe92' becomes '2'" in found.what


def test_prompts_that_fit_are_healthy_and_one_that_does_not_blocks(model: LoadedModel):
    def found(problems: Sequence[Problem]) -> Finding:
        return check_prompt_lengths(encoder(model), problems, whose="training", context_length=512, max_new_tokens=16)

    assert "together 3.9 % of the context of 512" in found([problem()]).what
    assert found([problem(), problem("9" * 600, name="p/2")]).level is Level.BLOCKER
    assert "problem p/2" in found([problem(), problem("9" * 600, name="p/2")]).what


def demonstration_findings(model: LoadedModel, texts: Sequence[str | None], sft_steps: int = 5) -> list[Finding]:
    return list(
        check_demonstrations(
            encoder(model),
            [problem(demonstration=text) for text in texts],
            sft_steps=sft_steps,
            context_length=512,
            max_new_tokens=16,
        )
    )


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["#2"], [Level.OK]),
        ([None, None], [Level.BLOCKER]),
        (["9" * 20], [Level.WARNING]),
        (["9" * 510], [Level.BLOCKER, Level.WARNING]),
    ],
)
def test_demonstrations_must_be_there_and_fit(model: LoadedModel, texts: list[str | None], found: list[Level]):
    assert levels(demonstration_findings(model, texts)) == found


def test_without_a_warm_start_none_are_needed(model: LoadedModel):
    assert levels(demonstration_findings(model, [None], sft_steps=0)) == [Level.OK]


# probe

SETTING = Setting(
    before_sft=False, untrained=False, samples_per_prompt=2, compares_groups=True, max_new_tokens=8, max_failed_frac=0.1
)


def judged(outcomes: str, *, finish: str = "s", score: float = 0.0, failures: int = 0) -> Probe:
    """Return a probe by hand: pairs of outcomes, c(orrect), i(ncorrect) or n(o answer); finish s(top) or l(ength)."""
    words = {"c": Outcome.CORRECT, "i": Outcome.INCORRECT, "n": Outcome.NO_ANSWER}
    responses = [
        Response(
            prompt_ids=(5,), token_ids=(6, 7, 1), logprobs=(0.0,) * 3, mask=(True,) * 3, text="",
            finish=Finish.LENGTH if finish == "l" else Finish.STOP,
        )
        for _ in outcomes
    ]  # fmt: skip
    rollouts = [
        Rollout(
            problem=problem(name=str(index // 2)),
            response=response,
            verdict=Verdict(outcome=words[letter], score=1.0 if letter == "c" else score * (index % 2)),
            reward=1.0 if letter == "c" else score * (index % 2),
            policy_step=0,
        )
        for index, (letter, response) in enumerate(zip(outcomes, responses, strict=True))
    ]
    return Probe(
        responses=responses,
        rollouts=rollouts[: len(rollouts) - failures],
        failures=[(problem(), BadReferenceError("no gold"))] * failures,
        asked=len(outcomes) // 2,
        wanted=len(outcomes) // 2,
        judging=JudgingTime(latencies_s=[0.001, 0.002, 0.5], wall_s=0.5, responses=3),
        sampling_s=1.0,
        step_sampling_s=1.0,
        step_was_drawn=True,
    )


def findings(probe: Probe, **changes: bool) -> list[Finding]:
    return list(check_probe(probe, probe_numbers(probe), replace(SETTING, **changes)))


def test_a_policy_that_is_sometimes_right_is_healthy():
    found = findings(judged("cici" * 8))
    assert set(levels(found)) == {Level.OK}
    assert any(f.what.startswith("pass rate 50.0 % [") for f in found)
    assert any(f.what.startswith("0.0 % of the problems got the same reward") for f in found)


def test_nothing_right_blocks_where_no_warm_start_follows():
    found = only(findings(judged("iiii" * 20)), Level.BLOCKER)
    assert "nothing can be learned" in found.what


def test_nothing_right_of_a_few_problems_proves_nothing_unless_the_weights_are_random():
    few = judged("ii" * 4)
    assert Level.BLOCKER not in levels(findings(few))
    assert any("0.0 % [0.0, 49.0]: too few problems to say" in f.what for f in findings(few))
    assert "nothing can be learned" in only(findings(few, untrained=True), Level.BLOCKER).what


def test_nothing_right_but_partial_scores_warn():
    assert Level.BLOCKER not in levels(findings(judged("iiii" * 8, score=0.5)))
    assert any("but rewards differ" in f.what for f in findings(judged("iiii" * 8, score=0.5)))


def test_nothing_right_before_sft_blocks_nothing():
    trained = findings(judged("iiii" * 8), before_sft=True)
    assert Level.BLOCKER not in levels(trained)
    assert any("0.0 % [0.0, 19.4] before SFT" in f.what and f.level is Level.WARNING for f in trained)
    random = findings(judged("iiii" * 8), before_sft=True, untrained=True)
    assert set(levels(random)) == {Level.OK, Level.NOTE}


def test_everything_right_warns():
    assert any("nothing left to learn" in f.what for f in findings(judged("cccc" * 8)) if f.level is Level.WARNING)


def test_groups_of_equal_rewards_warn_where_advantages_compare_them():
    probe = judged("cc" * 9 + "ii" * 9 + "ci")
    told = only(findings(probe), Level.WARNING)
    assert "94.7 % of the problems got the same reward for all 2 responses" in told.what
    assert levels(findings(probe, compares_groups=False)).count(Level.WARNING) == 0


def test_responses_that_never_stop_warn():
    assert "the model never stops" in only(findings(judged("cici", finish="l")), Level.WARNING).what


def test_answers_that_are_not_where_the_verifier_looks_warn():
    found = only(findings(judged("nnnnnnnc")), Level.WARNING)
    assert found.what.startswith("87.5 % of the responses have no answer")


def test_responses_without_a_verdict_block_above_the_limit_and_warn_below():
    assert any("2 of 4 responses could not be judged" in f.what for f in findings(judged("cici", failures=2)))
    assert levels(findings(judged("cici", failures=2))).count(Level.BLOCKER) == 1
    assert levels(findings(judged("ci" * 20, failures=2))).count(Level.BLOCKER) == 0


def test_a_probe_without_any_verdict_is_told():
    assert levels(findings(judged("ci", failures=2))).count(Level.BLOCKER) == 1


def test_verifier_latency_is_told_with_its_share_of_a_step():
    found = check_latency(judged("ci").judging, on="a response", share_of_step=0.2)
    assert "takes 2 ms at the middle (p50), 500 ms p99, 500 ms at most; about 20.0 % of a step" in found.what
    assert check_latency(judged("ci").judging, on="a response", share_of_step=0.9).level is Level.WARNING


def test_larger_batches_are_reckoned_from_two_smaller_ones():
    fixed_s, each_s = sampling_cost([(4, 1.0), (60, 2.0)])
    assert fixed_s + 60 * each_s == pytest.approx(2.0)
    assert fixed_s + 116 * each_s == pytest.approx(3.0)


def test_memory_counts_the_problems_that_an_evaluation_asks_at_once(model: LoadedModel):
    config = tiny_config("evaluation.samples_per_problem=4")

    def estimate(evaluated: int) -> float:
        return memory_of_run(config, model, shape_of(model.policy), 0, evaluated, judged("ci")).bytes

    assert estimate(100) < estimate(128) == estimate(10_000)


def test_the_probe_asks_what_fits_into_its_time(model: LoadedModel):
    config = tiny_config()
    problems = wiring.build_task(config).problems("train")

    def probe(limit_s: float) -> Probe:
        return draw_probe(
            problems, {"numeric": load_verifier("numeric")}, encoder(model), wiring.build_engine(config, model),
            wiring.build_sampling(config), rule=RewardRule(), wanted=12, prompts_per_step=16, workers=1, seed=0,
            limit_s=limit_s,
        )  # fmt: skip

    assert probe(60.0).asked == len(probe(60.0).rollouts) == 12
    assert probe(60.0).step_was_drawn
    assert probe(0.0).asked == 4
    assert not probe(0.0).step_was_drawn


# numerics


def numeric_findings(policy: CausalLM, reference: CausalLM | None = None, **algorithm: Any) -> list[Finding]:
    models = actor_critic(policy=policy)
    rollouts = sampled_rollouts(policy)
    found = measure_numerics(rollouts, models, reference or frozen_copy(policy), Algorithm(**algorithm), kl_coef=0.1)
    return list(check_numerics(found, rollouts, policy.compute_dtype))


def test_a_healthy_model_passes_every_identity_and_keeps_its_weights():
    policy = tiny_policy()
    before = [parameter.detach().clone() for parameter in policy.module.parameters()]
    assert set(levels(numeric_findings(policy))) == {Level.OK}
    assert all(torch.equal(a, b) for a, b in zip(before, policy.module.parameters(), strict=True))
    assert all(parameter.grad is None for parameter in policy.module.parameters())


def test_one_response_is_enough_for_the_identities():
    policy = tiny_policy()
    one = sampled_rollouts(policy)[:1]
    found = measure_numerics(one, actor_critic(policy=policy), frozen_copy(policy), Algorithm(), kl_coef=0.1)
    assert set(levels(check_numerics(found, one, policy.compute_dtype))) == {Level.OK}


@pytest.mark.parametrize("advantage", ["gae", "group_normalized"])
def test_the_identities_hold_for_other_algorithms(advantage: str):
    found = numeric_findings(tiny_policy(), advantage=advantage, kl_in="loss", kl_estimator="exact")
    assert set(levels(found)) == {Level.OK}


def test_a_reference_that_is_no_copy_blocks():
    policy = tiny_policy()
    assert "the reference is not a copy" in " ".join(map(str, numeric_findings(policy, perturbed(policy))))


def test_dropout_that_is_on_breaks_the_ratio():
    policy = CausalLM(tiny_module("gpt2", resid_pdrop=0.5, embd_pdrop=0.5))
    policy.module.train()
    found = only(
        (f for f in numeric_findings(policy) if "importance ratio" in f.what or "dropout" in f.advice), Level.BLOCKER
    )
    assert "importance ratio is not 1" in found.what
    assert "dropout" in found.advice


def test_a_gradient_that_is_zero_or_not_finite_blocks():
    policy = tiny_policy()
    rollouts = sampled_rollouts(policy)
    models = actor_critic(policy=policy)
    found = measure_numerics(rollouts, models, frozen_copy(policy), Algorithm(), kl_coef=0.1)
    assert levels(check_numerics(replace(found, gradient_norm=0.0), rollouts, torch.float32))[-1] is Level.BLOCKER
    assert levels(check_numerics(replace(found, gradient_norm=torch.inf), rollouts, torch.float32))[-1] is Level.BLOCKER
    assert levels(check_numerics(replace(found, loss=torch.nan), rollouts, torch.float32))[-1] is Level.BLOCKER


def prompts_of_unlike_lengths(engine: RolloutEngine) -> Iterator[Rollout]:
    prompts = [random_tokens(1, width, seed=width)[0].tolist() for width in (2, 5, 9)]
    for response in engine.generate(prompts, Sampling(max_new_tokens=4), seed=0):
        verdict = Verdict(outcome=Outcome.CORRECT, score=1.0)
        yield Rollout(problem=problem(), response=response, verdict=verdict, reward=1.0, policy_step=0)


@pytest.mark.parametrize("architecture", ["llama", "gpt2", "bloom"])
def test_log_probs_of_a_healthy_model_do_not_depend_on_padding(architecture: str):
    policy = tiny_policy(architecture)
    engine = LocalEngine(policy, IdTokenizer(), stop_ids=[EOS])
    rollouts = list(prompts_of_unlike_lengths(engine))
    trained = alone_and_together(policy, rollouts, temperature=1.0)
    sampled = sampled_alone_and_together(engine, rollouts, max_new_tokens=4)
    gaps = check_gaps(torch.float32, alone_and_together=trained, sampled_alone_and_together=sampled, sampler_gap=1e-7)
    assert set(levels(gaps)) == {Level.OK}


def test_a_sampler_that_counts_left_padding_as_positions_blocks():
    policy = tiny_policy("gpt2")
    engine = LocalEngine(policy, IdTokenizer(), stop_ids=[EOS])
    engine._position_ids = lambda positions: {}  # what a sampler without position ids does
    rollouts = list(prompts_of_unlike_lengths(engine))
    gaps = sampled_alone_and_together(engine, rollouts, max_new_tokens=4)
    found = check_gaps(
        torch.float32, alone_and_together=torch.zeros(1), sampled_alone_and_together=gaps, sampler_gap=None
    )
    assert "in sampling, a prompt's log-probs depend on left padding" in only(found, Level.BLOCKER).what


def test_a_sampler_further_from_the_trainer_than_rounding_warns():
    zero = torch.zeros(1)

    def gap(size: float, dtype: torch.dtype) -> Level:
        found = check_gaps(dtype, alone_and_together=zero, sampled_alone_and_together=zero, sampler_gap=size)
        return levels(found)[-1]

    assert gap(1e-3, torch.float32) is Level.WARNING
    assert gap(1e-3, torch.bfloat16) is Level.OK


def test_few_rollouts_are_two_at_least():
    rollouts = sampled_rollouts(tiny_policy())
    assert len(few_of(rollouts, most_rows=4, most_tokens=10_000)) == 4
    assert len(few_of(rollouts, most_rows=4, most_tokens=1)) == 2
    assert len(few_of(rollouts[:1], most_rows=4, most_tokens=1)) == 1
