"""Our verifiers in other people's trainers, and their reward functions as our verifiers.

One module for each trainer. None imports the trainer, and `import verifiers` imports none of them.
"""
