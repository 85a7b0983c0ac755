"""Checking what an investigation claims: every sentence cites, and what it cites says so."""

from .check import Problem, check

__all__ = ["Problem", "check"]
