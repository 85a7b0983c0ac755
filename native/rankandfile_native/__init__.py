"""A quick reader of flight recorder dumps for `rankandfile`, which uses it where it is installed."""

from rankandfile_native._native import interface, read
from rankandfile_native._native import version as __version__

__all__ = ["__version__", "interface", "read"]
