"""Warm start, experience, update, and the loop that ties them."""
