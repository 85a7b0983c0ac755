"""What an expression can be an object of, over the whole program."""

from .of_expressions import MOST_STEPS, Objects

__all__ = ["MOST_STEPS", "Objects"]
