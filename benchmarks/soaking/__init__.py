"""What `soak.py` is made of: the job, the faults, the place where both are tried, and what must hold of it."""
