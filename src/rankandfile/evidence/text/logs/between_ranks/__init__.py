"""The logs of ranks put side by side: which lines are kept for that, and what they say differently."""
