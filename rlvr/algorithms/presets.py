"""Named algorithms as data: what each changes of the algorithm configuration's defaults.

Any field can still be set beside the preset. The group-based ones need rollout.samples_per_prompt of at least 2.
"""

PRESETS: dict[str, dict[str, object]] = {
    # PPO with a critic, GAE and the KL penalty in the reward: arXiv 1707.06347, 1506.02438, 1909.08593.
    # The defaults are this algorithm.
    "ppo": {},
    # GRPO, DeepSeekMath, arXiv 2402.03300: group-normalised scores, per-response means, the KL in the loss with weight
    # 0.04, one update per batch of rollouts. The paper's KL term is k3, whose gradient is that of the forward
    # KL(ref || policy); k2 has the gradient of KL(policy || ref) that the paper's objective names.
    "grpo": {
        "advantage": "group_normalized",
        "whiten_advantages": False,
        "aggregation": "sequence_mean",
        "kl_in": "loss",
        "kl_estimator": "k2",
        "kl_coef": 0.04,
        "minibatches": 1,
    },
    # Dr. GRPO, "Understanding R1-Zero-Like Training", arXiv 2503.20783: no division by the group's std, none by the
    # response's own length, and no KL term.
    "dr_grpo": {
        "advantage": "group_centered",
        "whiten_advantages": False,
        "aggregation": "constant",
        "kl_in": "loss",
        "kl_estimator": "k2",
        "kl_coef": 0.0,
        "minibatches": 1,
    },
    # RLOO, "Back to Basics", arXiv 2402.14740: a whole response is one action, its baseline the mean of the other
    # responses; KL in the reward; on-policy, so the ratio is 1 and the clip never acts.
    "rloo": {
        "advantage": "leave_one_out",
        "whiten_advantages": False,
        "aggregation": "sequence_sum",
        "minibatches": 1,
    },
    # REINFORCE, Williams 1992, doi 10.1007/BF00992696: reward to go, on-policy, no critic. Whitening stays on: the
    # batch mean is its baseline, as in REINFORCE++, arXiv 2501.03262.
    "reinforce": {
        "advantage": "reward_to_go",
        "aggregation": "sequence_sum",
        "minibatches": 1,
    },
}
