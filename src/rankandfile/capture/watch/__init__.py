"""The job's ranks as they are seen from outside: whether they live, move, stand still, and how they ended."""
