"""Errors of the rlvr package.

RlvrError
    PackageConflictError    another distribution owns one of our import names
    ConfigError             the configuration cannot be used; lists every problem found
    ModelError              a model or tokenizer cannot be loaded or lacks what the loop needs
    PromptTooLongError      a prompt and its response do not fit the model's context
    RunFolderError          a run folder exists already, or is not one
    CheckpointError         a checkpoint is missing, incomplete or of another run
    TrackerError            a tracker's package is missing, or it does not start
    EndpointError           a server that answers for a model refuses, or does not answer
    JudgingFailedError      too many responses could not be judged
    InvariantError          a numerical invariant of PPO does not hold
    NonFiniteLossError      the loss or its gradient stopped being a number

Errors of the sibling packages (TaskError, VerifierError, SandboxError) pass through unchanged.
"""


class RlvrError(Exception):
    """Anything rlvr reports to its user in one line: what, where, what to do."""


class PackageConflictError(RlvrError):
    """One of `tasks`, `verifiers`, `sandbox` is imported from another distribution than rlvr."""


class ConfigError(RlvrError):
    """The configuration has one or more mistakes; the message holds one line for each."""


class ModelError(RlvrError):
    """A model or tokenizer cannot be loaded, or lacks what reinforcement learning needs (an EOS token)."""


class PromptTooLongError(ModelError):
    """A prompt leaves no room for a response within the model's context."""


class RunFolderError(RlvrError):
    """A run folder exists already, or the given folder is not a run."""


class CheckpointError(RlvrError):
    """A checkpoint is missing, incomplete, or was written by a run with another configuration."""


class TrackerError(RlvrError):
    """TensorBoard, W&B or trackio was asked for and cannot be used."""


class EndpointError(RlvrError):
    """A server that answers for a model refused a request, does not answer, or cannot be talked to from here."""


class JudgingFailedError(RlvrError):
    """More responses than the limit allows could not be judged, retries included."""


class InvariantError(RlvrError):
    """An identity that must hold exactly (ratio 1 on the first minibatch, KL 0 at step 0) does not."""


class NonFiniteLossError(RlvrError):
    """A loss became NaN or infinite; the weights were left as they were before the update."""
