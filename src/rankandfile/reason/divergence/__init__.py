"""The divergence: the earliest point at which ranks of one group stop making the same calls."""
