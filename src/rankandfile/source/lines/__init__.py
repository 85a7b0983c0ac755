"""The lines that a verdict leads to: where ranks diverged, on which condition, and why it can differ."""
