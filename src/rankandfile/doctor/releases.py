"""Releases of torch, as far as the table of variables knows them."""

from __future__ import annotations

import re

Release = tuple[int, int]

FIRST: Release = (1, 12)
LAST: Release = (2, 13)
"""What the table covers. Later releases are taken to be like the last one, and that is said."""

_RELEASE = re.compile(r"v?(\d{1,3})\.(\d{1,4})")


def parse(text: str) -> Release | None:
    """The release in ``2.4``, ``2.4.1+cu121`` or ``v2.4``."""
    found = _RELEASE.match(text.strip())
    return (int(found[1]), int(found[2])) if found else None


def shown(release: Release) -> str:
    return f"{release[0]}.{release[1]}"
