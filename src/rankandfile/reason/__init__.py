"""The verbs: pure functions from model to model that end in a verdict."""

from .diagnose import conclude, diagnose
from .facts import Facts, gather

__all__ = ["Facts", "conclude", "diagnose", "gather"]
