"""The verdict: findings of all sources, which of them is believed, and what speaks against it."""
