"""Exchanges whose amounts disagree, or that are of different layers of a backward pass."""
