"""Cases of simulated and of handwritten jobs."""
