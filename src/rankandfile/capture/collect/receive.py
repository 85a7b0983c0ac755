"""A tar that comes from a machine, taken into its folder: what was asked for, and nothing else; bounded, and each file
whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from rankandfile.evidence.files.expansion_budget import ExpansionBudget, Stop, TooMuch
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.files.tar import Tar

from . import folder
from .listing import Listed, sent_as

#: A log of a job that ran for weeks is the largest file; `raf diagnose` reads none that is larger.
LARGEST = Limits().file_bytes


class Incomplete(Exception):
    """The rest of it did not come; its text says why."""


def receive(
    tar: Tar, wanted: Mapping[str, Listed], into: Path, spool: Path, took: Callable[[Listed, int], None]
) -> None:
    """`wanted`: by the name in the archive. `took` is told each file that is in its place, and its size.

    Raises `Incomplete`, and OSError for what cannot be written.
    """
    budget = ExpansionBudget(Limits(member_bytes=LARGEST), spool)
    budget.open_root(sum(one.size for one in wanted.values()))
    try:
        for member in tar:
            one = wanted.get(sent_as(member.name)) if member.kind == "file" else None
            if one is None:
                continue
            copy, size = budget.spool(budget.metered(tar.body()), None)
            if tar.cut:
                copy.unlink()
                break
            folder.put(copy, into / one.name, member.written_ns)
            took(one, size)
    except (Stop, TooMuch) as why:
        raise Incomplete(str(why)) from None
    if tar.broken:
        raise Incomplete(f"what it sent {tar.broken}")
