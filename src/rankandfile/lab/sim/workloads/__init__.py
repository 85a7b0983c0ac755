"""Training programs, one shape of parallelism per module, as streams of what each rank does."""
