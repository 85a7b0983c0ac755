"""Control flow of one function, and the decisions that send control to one line or to another."""

from .condition import Condition, Exit, Kind, Point
from .deciding import deciding

__all__ = ["Condition", "Exit", "Kind", "Point", "deciding"]
