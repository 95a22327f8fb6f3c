"""Sentences of a wanted length: a task and a verifier that rlvr finds once this distribution is installed."""
