"""`pack.json`: what a pack holds."""

from __future__ import annotations

import msgspec

MANIFEST = "pack.json"
SCHEMA = "rankandfile.pack/1"


class Pack(msgspec.Struct, kw_only=True):
    schema: str = SCHEMA
    redacted: bool = False
    """Hosts, users, paths, addresses and secrets are pseudonyms."""
    replaced: dict[str, int] = {}
    """How many names of each kind were replaced."""
    raw: bool = False
    """The evidence itself lies below `evidence/`."""
