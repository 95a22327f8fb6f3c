"""The mathematics of policy optimisation: tensors in, tensors out.

Every [B T] tensor is aligned on the action being predicted, as `rlvr.rollout.types` says. In a mask, True means that
the token counts; whatever stands where it is False (NaN included) has no influence on what counts.
"""
