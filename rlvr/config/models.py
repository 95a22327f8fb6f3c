"""The configuration: every key, its default, its range and what it means.

Field descriptions are the documentation: `rlvr config` prints them. Keys are stable names that people script against.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
PositiveInt = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=0)]
NonNegative = Annotated[float, Field(ge=0.0)]
Positive = Annotated[float, Field(gt=0.0)]
DecayRate = Annotated[float, Field(ge=0.0, lt=1.0)]


class Section(BaseModel):
    """A table of the TOML file: frozen, closed to names it does not know, and without conversions (true is not 1)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class RunConfig(Section):
    """The run as a whole."""

    name: str = Field(
        default="",
        description='Folder name below run.dir; "" makes one from task and algorithm, such as "arithmetic-ppo-1".',
    )
    dir: str = Field(default="runs", description="Where run folders are made.")
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(
        default=0, description="Every random choice of the run derives from it."
    )
    steps: Count = Field(default=50, description="PPO steps; each draws new rollouts. 0 stops after SFT.")
    threads: Count = Field(default=0, description="CPU threads for torch; 0 leaves torch's own choice.")
    device: str = Field(default="auto", description='"cpu", "cuda", "mps"; auto takes a GPU where there is one.')


class ModelConfig(Section):
    """The policy before training."""

    name: str = Field(
        default="tiny", description='"tiny" (built here, random weights), a model folder, a .gguf file or a hub name.'
    )
    dtype: Literal["float32", "bfloat16"] = Field(default="float32", description="Type of the trained weights.")
    autocast: Literal["off", "bfloat16"] = Field(
        default="off", description="bfloat16 runs the matrix products in bfloat16 over float32 weights."
    )
    chat_template: Literal["auto", "on", "off"] = Field(
        default="auto", description="auto applies the tokenizer's chat template when it has one."
    )
    system_prompt: str | None = Field(
        default=None,
        description="System message for the chat template; "
        "absent leaves the template's own, and an empty string asks for none.",
    )
    tiny_hidden: PositiveInt = Field(default=160, description="Width of the tiny model.")
    tiny_layers: PositiveInt = Field(default=4, description="Layers of the tiny model.")
    tiny_heads: PositiveInt = Field(
        default=4, description="Attention heads of the tiny model; must divide tiny_hidden."
    )


class TaskConfig(Section):
    """Where problems come from and how responses are judged."""

    name: str = Field(default="arithmetic", description="A task: built in, registered by --plugin, or installed.")
    verifier: str | None = Field(default=None, description="Judges in place of the verifier that the task names.")
    options: dict[str, Any] = Field(
        default_factory=dict, description="The task's own options, for instance path or digits."
    )
    verifier_options: dict[str, Any] = Field(default_factory=dict, description="The verifier's own options.")


class SftConfig(Section):
    """Supervised warm start on demonstrations; what it ends with is the frozen reference."""

    steps: Count = Field(default=700, description="Optimizer steps; 0 starts PPO from the model as it is.")
    batch_size: PositiveInt = Field(default=32, description="Demonstrations per step.")
    micro_batch_size: Count = Field(
        default=0, description="Rows per forward and backward; 0 takes the whole batch. Changes memory, not results."
    )
    lr: Positive = Field(default=1.5e-3, description="Peak learning rate.")
    warmup_steps: Count = Field(default=60, description="Steps of linear warm-up, then cosine decay to zero.")
    weight_decay: NonNegative = Field(default=0.0, description="AdamW's decoupled weight decay.")
    max_grad_norm: Positive = Field(default=1.0, description="Gradients are clipped to this norm.")


class RolloutConfig(Section):
    """How rollouts are drawn."""

    prompts_per_step: PositiveInt = Field(default=512, description="Problems per PPO step.")
    samples_per_prompt: PositiveInt = Field(
        default=1, description="Responses to each problem; group-based advantages need at least 2."
    )
    max_new_tokens: PositiveInt = Field(
        default=40, description="Length limit of a response; reaching it is truncation."
    )
    temperature: Positive = Field(
        default=1.0, description="Divides the logits when sampling and in every log-probability."
    )
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] = Field(
        default=1.0, description="Nucleus; below 1 the log-probabilities are recomputed over the full softmax."
    )
    top_k: Count = Field(default=0, description="Sample among the k likeliest tokens; 0 means all.")
    batch_size: Count = Field(
        default=0,
        description="Responses generated at a time (at least one prompt's); 0 means all. Lower it to save memory.",
    )
    judge_workers: PositiveInt = Field(default=4, description="Threads that call verifiers.")
    judge_retries: Count = Field(default=2, description="Further tries when a verifier itself fails.")
    max_failed_frac: Fraction = Field(
        default=0.1, description="The run stops when more than this share of a step's responses could not be judged."
    )


class RewardConfig(Section):
    """What a verdict earns: incorrect + score * (correct - incorrect), less a penalty on length where one is set."""

    correct: float = Field(default=1.0, description="Reward of score 1.")
    incorrect: float = Field(default=0.0, description="Reward of score 0.")
    no_answer: float | None = Field(
        default=None, description="Reward when no answer was found; absent means the same as incorrect."
    )
    truncation: Literal["fail", "bootstrap", "mask"] = Field(
        default="fail",
        description="A response cut by the length limit: fail earns `incorrect` (or "
        "`no_answer`); bootstrap earns the critic's value of the state after it; mask leaves it out of the losses.",
    )
    overlong_cache: Count = Field(
        default=0,
        description="DAPO's soft overlong punishment: in the last overlong_cache tokens before rollout.max_new_tokens "
        "a penalty grows from 0 to overlong_weight, and is taken from the reward; 0 is off.",
    )
    overlong_weight: NonNegative = Field(
        default=1.0, description="Penalty of a response that reaches rollout.max_new_tokens, truncated or not."
    )


class AlgorithmConfig(Section):
    """Advantage estimator x ratio level x clip x aggregation x KL placement. The preset fills what you do not set."""

    preset: Literal["ppo", "grpo", "dr_grpo", "rloo", "reinforce"] = Field(
        default="ppo",
        description="Fills those fields of this section that are not set. A field that is set wins: in a file that "
        "lists them all, changing the preset alone changes nothing.",
    )
    advantage: Literal["gae", "group_normalized", "group_centered", "leave_one_out", "reward_to_go"] = Field(
        default="gae", description="Advantage estimator; only gae uses a critic."
    )
    gamma: Fraction = Field(default=1.0, description="Discount per token.")
    gae_lambda: Fraction = Field(default=1.0, description="GAE lambda of the policy's advantages.")
    critic_gae_lambda: Fraction = Field(
        default=1.0, description="GAE lambda of the critic's targets; 1 is the Monte-Carlo return."
    )
    length_adaptive_alpha: NonNegative = Field(
        default=0.0, description="VAPO: above 0 the policy's lambda is 1 - 1/(alpha * length) per response."
    )
    whiten_advantages: bool = Field(default=True, description="Mean 0 and variance 1 over the batch's valid tokens.")
    ratio_level: Literal["token", "sequence"] = Field(
        default="token", description="Importance ratio per token, or one per response (GSPO)."
    )
    clip_low: Annotated[float, Field(gt=0.0, lt=1.0)] = Field(
        default=0.2, description="The ratio is clipped below 1 - clip_low."
    )
    clip_high: Positive = Field(default=0.2, description="The ratio is clipped above 1 + clip_high.")
    dual_clip: NonNegative = Field(
        default=0.0, description="Bound on the loss of negative advantages, at least 1; 0 is off."
    )
    aggregation: Literal["token_mean", "sequence_mean", "sequence_sum", "constant"] = Field(
        default="token_mean",
        description="token_mean: over all valid tokens; sequence_mean: mean of per-response means; "
        "sequence_sum: mean of per-response sums; constant: sums over max_new_tokens (Dr. GRPO).",
    )
    entropy_coef: float = Field(default=0.0, description="Weight of the entropy bonus.")
    kl_coef: NonNegative = Field(
        default=0.01, description="Weight of the KL penalty against the reference; the start value when adaptive."
    )
    kl_in: Literal["reward", "loss"] = Field(
        default="reward", description="Per-token penalty in the reward, or a term of the loss."
    )
    kl_estimator: Literal["k1", "k2", "exact"] = Field(
        default="k1",
        description="In the reward: k1. In the loss: k2 (its gradient is right) or exact (the full sum over the "
        "vocabulary).",
    )
    kl_control: Literal["fixed", "adaptive"] = Field(
        default="fixed", description="adaptive steers kl_coef towards kl_target."
    )
    kl_target: Positive = Field(default=6.0, description="Target of the adaptive controller: KL per response in nats.")
    kl_horizon: Positive = Field(default=10000.0, description="Rollouts over which the adaptive controller acts.")
    epochs: PositiveInt = Field(default=1, description="Passes over each step's rollouts.")
    minibatches: PositiveInt = Field(
        default=4, description="Optimizer steps per pass; must divide the rollouts of a step."
    )
    micro_batch_size: Count = Field(
        default=64,
        description="Rows per forward and backward; 0 takes the whole minibatch. Changes memory, not results.",
    )
    target_kl: NonNegative = Field(
        default=0.0, description="No further epoch once the update's approximate KL (k3) passes this; 0 is off."
    )


class CriticConfig(Section):
    """The value function, used by the gae advantage."""

    kind: Literal["shared", "separate"] = Field(
        default="shared",
        description="A head on the policy's trunk, or a backbone of its own (a copy of the SFT model).",
    )
    head: Literal["linear", "mlp"] = Field(
        default="mlp", description="The value head; its last layer starts at zero, so V = 0 at first."
    )
    loss_coef: NonNegative = Field(default=0.1, description="Weight of the value loss beside the policy loss.")
    value_clip: NonNegative = Field(
        default=0.2,
        description="Range around the rollout-time value in the clipped value loss; 0 takes the plain squared error.",
    )
    warmup_steps: Count = Field(
        default=1, description="First steps in which the critic alone learns (the policy is frozen)."
    )


class OptimizerConfig(Section):
    """AdamW for policy and critic."""

    lr: NonNegative = Field(
        default=1.5e-4, description="Peak learning rate of the policy; 0 trains nothing, as a control."
    )
    critic_lr: NonNegative = Field(
        default=1e-3, description="Peak learning rate of the value head or the critic's own backbone."
    )
    warmup_steps: Count = Field(
        default=3, description="Steps of linear warm-up, those in which the critic alone learns included."
    )
    decay: Literal["none", "linear", "cosine"] = Field(
        default="linear", description="Decay after the warm-up, to final_lr_frac at the last step."
    )
    final_lr_frac: Fraction = Field(default=0.05, description="Share of the peak learning rate at the last step.")
    beta1: DecayRate = Field(default=0.9, description="AdamW beta1.")
    beta2: DecayRate = Field(default=0.95, description="AdamW beta2.")
    eps: Positive = Field(default=1e-5, description="AdamW epsilon.")
    weight_decay: NonNegative = Field(default=0.0, description="AdamW's decoupled weight decay.")
    max_grad_norm: Positive = Field(default=1.0, description="Gradient norm limit, for policy and critic apart.")


class EvaluationConfig(Section):
    """Held-out pass rate during and after training."""

    split: str = Field(default="test", description="The task's split of held-out problems.")
    problems: Count = Field(default=500, description="Problems of the split to use; 0 means all.")
    every: Count = Field(
        default=5, description="PPO steps between evaluations on the curve; 0 evaluates only before and after."
    )
    curve_problems: Count = Field(
        default=200, description="Problems per evaluation during training, 0 for all; before and after use `problems`."
    )
    samples_per_problem: PositiveInt = Field(
        default=1,
        description="Sampled responses per problem (T as in rollout.temperature), beside one greedy response.",
    )
    verifier: str | None = Field(
        default=None,
        description="Judges held-out responses in place of task.verifier, where the reward is not the truth (a "
        'control, a shaped score); "task" takes the one that the task names.',
    )
    verifier_options: dict[str, Any] = Field(
        default_factory=dict, description="Options of evaluation.verifier; task.verifier_options are not used for it."
    )
    audit: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Verifiers, name = {options}, that judge every held-out response besides and never feed the "
        'reward: where they disagree, the reward is being hacked. "task" is the one that the task names.',
    )


class CheckpointConfig(Section):
    """Saves to resume from."""

    every: Count = Field(default=20, description="PPO steps between checkpoints; 0 saves only at the end.")
    keep: Count = Field(default=2, description="Checkpoints kept, the latest ones; 0 keeps all.")


class TrackingConfig(Section):
    """What is recorded."""

    rollouts_every: Count = Field(
        default=1, description="Steps between records of every rollout (text, tokens, KL, advantages); 0 records none."
    )
    probe_problems: Count = Field(
        default=8,
        description="Held-out problems that are answered and recorded token by token at every evaluation, to follow "
        "the same problem over the run; 0 records none.",
    )
    trackers: list[Literal["tensorboard", "wandb", "trackio"]] = Field(
        default_factory=list,
        description='Where the metrics go besides metrics.jsonl: "tensorboard", "wandb", "trackio"; each needs its '
        "package (pip install 'rlvr[tensorboard]').",
    )
    project: str = Field(default="rlvr", description="Project that wandb and trackio file the run under.")
    audit_problems: Count = Field(
        default=20,
        description="Training problems on which the verifier is attacked once, for its error rates on the run's card; "
        "0 leaves them out.",
    )


class Config(Section):
    """The whole configuration of a run."""

    run: RunConfig = Field(default_factory=RunConfig)
    model: ModelConfig = Field(default_factory=ModelConfig)
    task: TaskConfig = Field(default_factory=TaskConfig)
    sft: SftConfig = Field(default_factory=SftConfig)
    rollout: RolloutConfig = Field(default_factory=RolloutConfig)
    reward: RewardConfig = Field(default_factory=RewardConfig)
    algorithm: AlgorithmConfig = Field(default_factory=AlgorithmConfig)
    critic: CriticConfig = Field(default_factory=CriticConfig)
    optimizer: OptimizerConfig = Field(default_factory=OptimizerConfig)
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)
    checkpoint: CheckpointConfig = Field(default_factory=CheckpointConfig)
    tracking: TrackingConfig = Field(default_factory=TrackingConfig)
