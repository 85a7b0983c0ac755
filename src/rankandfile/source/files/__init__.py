"""Source files: where they are read from, bounded, and never executed."""
