"""From where on a number of a run is worth a word; the words are in rlvr.tracking.findings and run_findings.

Where no source is named, the limit is ours: our healthy runs stay clear of it, and our broken ones do not.
"""

TRUNCATED_FRAC = 0.1
"""Share of responses cut by the length limit."""
TRUNCATED_ALARM_FRAC = 0.5
ALL_RIGHT_RATE = 0.995
"""A training pass rate from here on leaves nothing to learn from."""
TIMED_OUT_FRAC = 0.05
"""Share of judged responses whose answer ran out of time."""
ZERO_VARIANCE_FRAC = 0.8
"""Share of groups that teach nothing, for all their rewards are equal (DAPO, arXiv 2503.14476, samples such groups
anew)."""
LOGPROB_GAP = 0.05
"""Nats between the sampler's and the trainer's log-probability of a token; bfloat16 on a real model gives 0.02."""

AUDIT_GAP = 0.1
"""Share of responses that the reward's verifier accepts and an audit does not; also training over held-out problems."""

KL_PER_TOKEN = 0.25
"""Nats. Ziegler et al. (arXiv 1909.08593, in the settings of their code) steer to 6 nats in responses of 24 tokens."""
KL_PER_RESPONSE = 6.0
"""Nats; below it a short response may be far away in each token and mean nothing."""
KL_GROWTH = 3.0
"""Times that the KL of the last steps may be that of the run's middle."""
KL_PER_TOKEN_GROWING = 0.05
"""Nats; growth below it is that of a policy still close to its reference, however long its responses are."""
KL_ALARM_FACTOR = 4.0
"""Times KL_PER_TOKEN at which a steady distance is an alarm."""
RATIO_MAX = 100.0
"""Importance ratio of one token; the clip keeps its gradient out, but its size says that the update overshot."""

ENTROPY_SHARE = 0.2
"""Of the entropy at the start. It falls in every run, and pass rate is bought with it (Cui et al., arXiv 2505.22617):
a collapse is a loss that no longer buys anything."""
STALLED_GAIN = 0.01
"""Pass rate gained from the middle third of the steps to the last; less is standing still."""
SATURATED_RATE = 0.9
"""A pass rate from here on may stand still without anything being wrong."""

EXPLAINED_LITTLE = 0.05
"""Explained variance; a constant's is 0 by definition, and a critic's below this is hardly better."""
EXPLAINED_HARM = -0.1
"""Explained variance of a critic that is worse than a constant."""

CRITIC_STEPS = 20
"""Steps below which a critic is still learning."""

CLIP_FRAC = 0.2
"""Share of tokens whose gradient the clip removed; in our runs it is below 0.02."""
STILL_APPROX_KL = 1e-7
"""KL in nats per token of the policy before an update from the policy after it, when nothing moves."""

SHRUNK = 0.4
"""Length of the last responses over that of the first."""
GROWN = 3.0

FEW_STEPS = 6
"""Steps below which a series says nothing."""
