"""``raf version``: what to write into a report."""

from __future__ import annotations

import platform

from rankandfile import __version__
from rankandfile.cli.console import out

ORDER = 900
EXAMPLES = ("raf version",)


def version() -> None:
    """Which raf this is, which Python and system it runs on, and which parts of it are native."""
    from rankandfile.evidence.flight.native import native
    from rankandfile.runtime.recorder import native as recorder

    here = f"Python {platform.python_version()}", f"{platform.system()} {platform.machine()}"
    out.print(", ".join(filter(None, (f"raf {__version__}", *here, native().said, recorder.said()))))
