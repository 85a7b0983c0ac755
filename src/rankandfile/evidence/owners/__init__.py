"""Whose a file is: rank, host and attempt, from its name, its content and its neighbours."""
