"""A quick reader of flight recorder dumps for `rankandfile`, which uses it where it is installed."""

from importlib.metadata import version

from rankandfile_native._native import interface, read

__all__ = ["__version__", "interface", "read"]
__version__ = version("rankandfile-native")
