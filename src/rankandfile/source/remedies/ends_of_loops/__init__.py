"""How loops end: with the first rank that is done, or with the last."""
