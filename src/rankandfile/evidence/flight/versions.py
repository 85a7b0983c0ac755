"""Ranks whose recorders wrote different versions of the format: one job still, but not one installation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rankandfile.evidence.tables.part import Part
from rankandfile.model.ledger import Note
from rankandfile.model.ranks import format_ranks


def mixed_versions(parts: Sequence[Part]) -> list[Note]:
    """A note for each version that is not the usual one, at the first file that has it."""
    counts = Counter(part.raw.version for part in parts if part.raw.version)
    if len(counts) < 2:
        return []
    usual = counts.most_common(1)[0][0]
    notes: list[Note] = []
    for version in sorted(counts.keys() - {usual}):
        odd = [part for part in parts if part.raw.version == version]
        ranks = format_ranks(part.rank for part in odd if part.rank is not None)
        what = f"format version {version} (rank {ranks}), where most dumps have {usual}: read all the same"
        notes.append(Note(file=odd[0].source, where="version", what=what))
    return notes
