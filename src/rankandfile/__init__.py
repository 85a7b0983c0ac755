"""Rank & File: which rank, which file, which line hung the distributed job, and why."""

__version__ = "0.1.0"

__all__ = ["Case", "Diagnosis", "UserError", "__version__", "diagnose", "load"]

#: As type checkers read it: importing the package in a training job costs nothing, not even `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankandfile.api import Case, Diagnosis, UserError, diagnose, load


def __getattr__(name: str) -> object:
    """The names of the API, loaded when they are first asked for."""
    if name in __all__:
        from rankandfile import api

        return getattr(api, name)
    raise AttributeError(f"module 'rankandfile' has no attribute '{name}'")
