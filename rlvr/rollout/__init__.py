"""From problems to judged rollouts."""
