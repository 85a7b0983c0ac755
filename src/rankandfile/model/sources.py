"""Source files as they ran, where the recorder of the job kept them."""

from __future__ import annotations

from typing import NamedTuple


class SourceFile(NamedTuple):
    path: str
    """As the process knew it, and as its frames name it."""
    sha256: str
    data: bytes | None
    """What stood in it; None where only its hash was kept."""
