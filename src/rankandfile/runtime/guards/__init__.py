"""Checks and agreements between the ranks of a running job. Import them from `rankandfile.guard`."""
