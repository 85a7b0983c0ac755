"""Control flow of one function, and the decisions that send control to one line or to another."""

from .condition import Condition, Exit, Kind, Point, tested
from .deciding import conditions_at, deciding
from .exceptions import swallows

__all__ = ["Condition", "Exit", "Kind", "Point", "conditions_at", "deciding", "swallows", "tested"]
