"""An algorithm as data: advantage estimator x ratio level x clip x aggregation x KL placement, and its updates."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Algorithm:
    """What a policy update does. The defaults are PPO; configuration keys of the same names explain each field."""

    advantage: str = "gae"
    gamma: float = 1.0
    gae_lambda: float = 0.95
    critic_gae_lambda: float = 1.0
    length_adaptive_alpha: float = 0.0
    whiten_advantages: bool = True
    ratio_level: str = "token"
    clip_low: float = 0.2
    clip_high: float = 0.2
    dual_clip: float = 0.0
    aggregation: str = "token_mean"
    constant_length: int = 1
    """Divisor of the "constant" aggregation: rollout.max_new_tokens."""
    entropy_coef: float = 0.0
    kl_in: str = "reward"
    kl_estimator: str = "k1"
    epochs: int = 1
    minibatches: int = 1
    micro_batch_size: int = 0
    target_kl: float = 0.0
    value_loss_coef: float = 0.1
    value_clip: float = 0.2
    temperature: float = 1.0
    """The sampling temperature, by which every log-probability divides its logits."""
    max_grad_norm: float = 1.0

    @property
    def uses_critic(self) -> bool:
        return self.advantage == "gae"
