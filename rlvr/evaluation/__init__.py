"""Measuring a policy on held-out problems: pass rates, their uncertainty, and curves."""
