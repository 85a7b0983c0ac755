"""A folder that gives files of several processes to one rank is named for something else: `job_rank3` holds all.

Where that is so, the next best clue counts: the numbers of the folders below it, if they are a whole row, and as many
as the job has ranks.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from rankandfile.evidence.tables.part import Part

from .owner_by_path import Owner

_NUMBERED = re.compile(r"(?:[^/]*[^0-9/])?([0-9]{1,6})$")
_DOUBT = "its folder names one rank, and holds dumps of several processes"


def without_one_for_all(parts: Sequence[Part], owners: Sequence[Owner]) -> list[Owner]:
    """The owners, but for those whom a folder gives to one rank against what the files hold."""
    named: dict[tuple[int, str], list[int]] = defaultdict(list)
    for index, (part, owner) in enumerate(zip(parts, owners, strict=True)):
        if (
            owner.rank is not None
            and owner.rank_from == "folder"
            and part.raw.rank is None
            and part.raw.calls
        ):
            named[owner.rank, _ends(part.source)[1]].append(index)
    found = list(owners)
    for indices in named.values():
        if not _at_one_time([parts[index] for index in indices]):
            continue
        row = _row_of_folders([parts[index] for index in indices])
        for index in indices:
            rank = row.get(parts[index].source)
            rank_from, doubt = (None, _DOUBT) if rank is None else ("folder", None)
            found[index] = found[index]._replace(rank=rank, rank_from=rank_from, doubt=doubt)
    return found


def _ends(source: str) -> tuple[str, str]:
    folder, _, name = source.replace("!/", "/").rpartition("/")
    return folder, name


def _at_one_time(parts: list[Part]) -> bool:
    """Whether some of them recorded other calls in the same time: two attempts of one rank follow each other."""
    spans = sorted((time, part.span("record")) for part in parts if (time := part.span("created_ns")))
    folders = {_ends(part.source)[0] for part in parts}
    return len(folders) == len(parts) and any(
        later[0][0] <= earlier[0][1] and later != earlier for earlier, later in pairwise(spans)
    )


def _row_of_folders(parts: list[Part]) -> dict[str, int]:
    """Source -> the number of its folder, if these are as many as the job has ranks, from 0 on; else nothing."""
    numbers = {
        part.source: int(match[1]) for part in parts if (match := _NUMBERED.search(_ends(part.source)[0]))
    }
    worlds = {max((len(c.members) for c in part.raw.config if c.members), default=0) for part in parts}
    whole = sorted(numbers.values()) == list(range(len(parts))) and worlds == {len(parts)}
    return numbers if whole else {}
