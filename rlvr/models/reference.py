"""The frozen reference: the SFT policy as it was, against which the KL penalty is measured."""

import copy
import hashlib

import torch

from rlvr.models.causal_lm import CausalLM


def frozen_copy(policy: CausalLM) -> CausalLM:
    """Return a copy of `policy` that shares nothing with it and takes no gradients."""
    module = copy.deepcopy(policy.module)
    module.requires_grad_(False)
    return CausalLM(module, autocast=policy.autocast)


def weights_digest(policy: CausalLM) -> str:
    """Return the SHA-256 of all weights, names and bytes; equal digests mean equal policies."""
    digest = hashlib.sha256()
    for name, tensor in sorted(policy.module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
