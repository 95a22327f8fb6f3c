"""The composition root: where configuration becomes objects. Nothing below this file sees a config."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from rlvr.config.models import Config
from rlvr.errors import ConfigError
from rlvr.models.actor_critic import ActorCritic
from rlvr.models.causal_lm import CausalLM
from rlvr.models.loading import LoadedModel, TinyShape, load_model
from rlvr.models.reference import frozen_copy
from rlvr.models.value_head import TrunkCritic, value_head
from rlvr.rollout.local_engine import LocalEngine
from rlvr.rollout.prompts import PromptEncoder
from rlvr.rollout.rewards import Overlong, RewardRule, Truncation
from rlvr.rollout.types import Sampling
from rlvr.seeding import derive_seed, seed_process
from rlvr.tracking.sinks import Tracker
from rlvr.training.algorithm import Algorithm
from rlvr.training.trainer import Judging, RolloutRecorder, Schedule, Trainer
from tasks import load_task
from tasks.plugins import import_plugin_file
from tasks.sampling import ProblemSampler
from tasks.types import Problem, Task
from verifiers import Verifier, load_verifier
from verifiers.nested import load_nested


def load_plugins(paths: Sequence[Path]) -> None:
    """Import the user's plug-in files, whose decorators register tasks and verifiers."""
    for path in paths:
        import_plugin_file(path)


def prepare_process(config: Config) -> None:
    """Set what is the process's own: threads, treatment of subnormal numbers, and the global generators."""
    if config.run.threads:
        torch.set_num_threads(config.run.threads)
    # Sharp policies make subnormal gradients, on which CPUs are many times slower. Before the first thread is started.
    torch.set_flush_denormal(True)
    seed_process(config.run.seed)


def device_of(config: Config) -> str:
    """Return the torch device to run on."""
    wanted = config.run.device
    if wanted != "auto":
        try:
            torch.zeros(1, device=wanted)
        except (RuntimeError, AssertionError) as error:  # torch built without CUDA asserts
            reason = str(error).partition("\n")[0]
            raise ConfigError(f'run.device: {wanted!r} cannot be used here: {reason}; take "auto" or "cpu"') from error
        return wanted
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def build_model(config: Config, name: str | None = None) -> LoadedModel:
    """Load the configured model, or `name` in its place with the same precision and device."""
    model = config.model
    return load_model(
        name or model.name,
        dtype=getattr(torch, model.dtype),
        autocast=None if model.autocast == "off" else getattr(torch, model.autocast),
        device=device_of(config),
        tiny=TinyShape(hidden=model.tiny_hidden, layers=model.tiny_layers, heads=model.tiny_heads),
        seed=derive_seed(config.run.seed, "model"),
    )


def build_task(config: Config) -> Task:
    return load_task(config.task.name, config.task.options)


def problems_of(config: Config, task: Task, split: str) -> Sequence[Problem]:
    """Return the problems of a split.

    Raises:
        ConfigError: the split has none.
    """
    problems = task.problems(split)
    if len(problems) == 0:
        raise ConfigError(f"task.name: task {task.name!r} has no problems in its split {split!r}")
    return problems


class _Verifiers(dict[str, Verifier]):
    """Verifiers by the name that problems carry, loaded when first asked for."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._task = config.task

    def __missing__(self, name: str) -> Verifier:
        self[name] = load_verifier(self._task.verifier or name, self._task.verifier_options)
        return self[name]


def build_verifiers(config: Config, problems: Sequence[Sequence[Problem]]) -> Mapping[str, Verifier]:
    """Return the verifiers of the problems; `task.verifier` stands in for all of them.

    Those of each split's first problems are loaded now, so that a wrong name or option shows before training.
    """
    verifiers = _Verifiers(config)
    for name in {problem.verifier for some in problems for problem in some[:1000]}:
        _ = verifiers[name]
    return verifiers


def build_held_out_verifiers(
    config: Config, problems: Sequence[Problem], verifiers: Mapping[str, Verifier]
) -> Mapping[str, Verifier]:
    """Return the verifiers of held-out problems: those of the reward, unless `evaluation.verifier` says otherwise."""
    evaluation = config.evaluation
    if evaluation.verifier is None:
        return verifiers
    names = {problem.verifier for problem in problems}
    options, key = evaluation.verifier_options, "evaluation.verifier"
    return {name: _stand_in(name, evaluation.verifier, options, key, f"{key}_options") for name in names}


def build_audits(config: Config, problems: Sequence[Problem]) -> dict[str, Mapping[str, Verifier]]:
    """Return the audit verifiers by name, each by the verifier that problems carry."""
    names = {problem.verifier for problem in problems}
    return {
        audit: {
            name: _stand_in(name, audit, options, "evaluation.audit", f"evaluation.audit.{audit}") for name in names
        }
        for audit, options in config.evaluation.audit.items()
    }


def _stand_in(own: str, wanted: str, options: Mapping[str, Any], name_key: str, options_key: str) -> Verifier:
    return load_nested(own if wanted == "task" else wanted, options, name_key=name_key, options_key=options_key)


def build_encoder(config: Config, model: LoadedModel) -> PromptEncoder:
    return PromptEncoder(
        model.tokenizer,
        chat_template=config.model.chat_template,
        system_prompt=config.model.system_prompt,
        context_length=model.context_length,
        max_new_tokens=config.rollout.max_new_tokens,
    )


def build_engine(config: Config, model: LoadedModel) -> LocalEngine:
    return LocalEngine(model.policy, model.tokenizer, stop_ids=model.stop_ids, batch_size=config.rollout.batch_size)


def build_judging(config: Config, verifiers: Mapping[str, Verifier]) -> Judging:
    rollout = config.rollout
    return Judging(
        verifiers=verifiers,
        workers=rollout.judge_workers,
        retries=rollout.judge_retries,
        max_failed_frac=rollout.max_failed_frac,
    )


def build_sampling(config: Config) -> Sampling:
    rollout = config.rollout
    return Sampling(
        max_new_tokens=rollout.max_new_tokens,
        temperature=rollout.temperature,
        top_p=rollout.top_p,
        top_k=rollout.top_k,
        samples_per_prompt=rollout.samples_per_prompt,
    )


def build_reward_rule(config: Config) -> RewardRule:
    reward, limit = config.reward, config.rollout.max_new_tokens
    overlong = Overlong(max_new_tokens=limit, cache=reward.overlong_cache, weight=reward.overlong_weight)
    return RewardRule(
        correct=reward.correct,
        incorrect=reward.incorrect,
        no_answer=reward.no_answer,
        truncation=Truncation(reward.truncation),
        overlong=overlong if reward.overlong_cache else None,
    )


def build_algorithm(config: Config) -> Algorithm:
    chosen = config.algorithm
    return Algorithm(
        advantage=chosen.advantage,
        gamma=chosen.gamma,
        gae_lambda=chosen.gae_lambda,
        critic_gae_lambda=chosen.critic_gae_lambda,
        length_adaptive_alpha=chosen.length_adaptive_alpha,
        whiten_advantages=chosen.whiten_advantages,
        ratio_level=chosen.ratio_level,
        clip_low=chosen.clip_low,
        clip_high=chosen.clip_high,
        dual_clip=chosen.dual_clip,
        aggregation=chosen.aggregation,
        constant_length=config.rollout.max_new_tokens,
        entropy_coef=chosen.entropy_coef,
        kl_in=chosen.kl_in,
        kl_estimator=chosen.kl_estimator,
        epochs=chosen.epochs,
        minibatches=chosen.minibatches,
        micro_batch_size=chosen.micro_batch_size,
        target_kl=chosen.target_kl,
        value_loss_coef=config.critic.loss_coef,
        value_clip=config.critic.value_clip,
        temperature=config.rollout.temperature,
        max_grad_norm=config.optimizer.max_grad_norm,
    )


def build_actor_critic(config: Config, policy: CausalLM, reference: CausalLM) -> ActorCritic:
    """Put a critic beside the policy, where the algorithm uses one; its own backbone starts as the SFT model."""
    if config.algorithm.advantage != "gae":
        return ActorCritic(policy, None)
    head = value_head(policy.hidden_size, config.critic.head, seed=derive_seed(config.run.seed, "value head"))
    backbone = None
    if config.critic.kind == "separate":
        backbone = frozen_copy(reference)
        backbone.module.base_model.requires_grad_(True)
    return ActorCritic(policy, TrunkCritic(head.to(policy.device), backbone))


def build_optimizer(config: Config, actor_critic: ActorCritic) -> torch.optim.AdamW:
    """Build AdamW with the groups "policy" and, with a critic, "critic"."""
    optimizer = config.optimizer
    groups = [
        {"name": "policy", "params": actor_critic.policy_parameters(), "lr": optimizer.lr},
        {"name": "critic", "params": actor_critic.critic_parameters(), "lr": optimizer.critic_lr},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        betas=(optimizer.beta1, optimizer.beta2),
        eps=optimizer.eps,
        weight_decay=optimizer.weight_decay,
    )


def build_trainer(
    config: Config,
    model: LoadedModel,
    reference: CausalLM,
    *,
    problems: Sequence[Problem],
    verifiers: Mapping[str, Verifier],
    encoder: PromptEncoder,
    engine: LocalEngine,
    tracker: Tracker,
    record: RolloutRecorder,
) -> Trainer:
    """Put the reinforcement learning loop together."""
    actor_critic = build_actor_critic(config, model.policy, reference)
    algorithm, optimizer = config.algorithm, config.optimizer
    return Trainer(
        sampler=ProblemSampler(problems, derive_seed(config.run.seed, "problems")),
        prompts_per_step=config.rollout.prompts_per_step,
        encoder=encoder,
        engine=engine,
        sampling=build_sampling(config),
        judging=build_judging(config, verifiers),
        reward=build_reward_rule(config),
        actor_critic=actor_critic,
        reference=reference,
        optimizer=build_optimizer(config, actor_critic),
        algorithm=build_algorithm(config),
        schedule=Schedule(
            total_steps=config.run.steps,
            critic_warmup_steps=config.critic.warmup_steps,
            lr_warmup_steps=optimizer.warmup_steps,
            lr_decay=optimizer.decay,
            final_lr_frac=optimizer.final_lr_frac,
            kl_control=algorithm.kl_control,
            kl_target=algorithm.kl_target,
            kl_horizon=algorithm.kl_horizon,
        ),
        kl_coef=algorithm.kl_coef,
        seed=config.run.seed,
        tracker=tracker,
        record=record,
    )
