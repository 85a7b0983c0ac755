"""``raf version``: what to write into a report."""

from __future__ import annotations

import platform

from rankandfile import __version__
from rankandfile.cli.console import out

ORDER = 900
EXAMPLES = ("raf version",)


def version() -> None:
    """Which raf this is, and which Python and system it runs on."""
    from rankandfile.evidence.flight.native import native

    said = f"raf {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    out.print(f"{said}, {native().said}" if native().said else said)
