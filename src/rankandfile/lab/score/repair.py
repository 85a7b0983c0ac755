"""Dumps as torch's analyser would need them: gloo's configuration and states filled in from what is known.

gloo's recorder leaves the group table empty and every state ``scheduled``; torch 2.13's analyser fails on that
with a KeyError. To compare more than a crash, this gives it what a repaired recorder would have written.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

from rankandfile.evidence.flight.as_pickle import load
from rankandfile.evidence.owners.owner_by_path import whose


def repaired_copy(dumps: Path, into: Path) -> Path:
    """A folder with the readable pickles of `dumps`, each named for its rank."""
    sources = sorted(path for path in dumps.rglob("*") if path.is_file())
    owners = whose([str(path) for path in sources])
    loaded: dict[int, dict[str, Any]] = {}
    for path, owner in zip(sources, owners, strict=True):
        value, _, _ = load(path)
        if owner.rank is not None and isinstance(value, dict):
            loaded.setdefault(owner.rank, value)
    users: dict[tuple[str, str], set[int]] = defaultdict(set)
    for rank, dump in loaded.items():
        for entry in _entries(dump):
            users[tuple(entry["process_group"])].add(rank)
    target = into / "dumps"
    target.mkdir()
    for rank, dump in loaded.items():
        (target / f"trace_{rank}").write_bytes(pickle.dumps(_repaired(rank, dump, users), protocol=2))
    return target


def _repaired(rank: int, dump: dict[str, Any], users: dict[tuple[str, str], set[int]]) -> dict[str, Any]:
    recorded = {key: value for key, value in dump.get("pg_config", {}).items() if key}
    inferred = {
        name: {"name": name, "desc": desc, "ranks": str(sorted(ranks))}
        for (name, desc), ranks in users.items()
        if rank in ranks
    }
    entries = [
        {**entry, "state": "completed"} if entry["retired"] and entry["state"] == "scheduled" else entry
        for entry in _entries(dump)
    ]
    if not entries:
        return dump
    return {**dump, "pg_config": {**inferred, **recorded}, "entries": entries}


def _entries(dump: dict[str, Any]) -> list[dict[str, Any]]:
    """The entries, if they are of a format that the analyser knows; older ones have no names of groups."""
    found: list[dict[str, Any]] = dump.get("entries", [])
    return found if all("process_group" in entry for entry in found) else []
