"""Ranks: where each one is, what it does and how it ended, from whatever tells it."""
