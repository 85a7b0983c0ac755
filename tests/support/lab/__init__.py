"""Real ranks, to compare what the lab makes with."""
