"""Rank & File: which rank, which file, which line hung the distributed job, and why."""

__version__ = "0.1.0"
