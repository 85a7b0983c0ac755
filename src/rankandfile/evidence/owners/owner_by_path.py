"""Whose file is it: rank and host from the paths of all files together. Reads no file.

In order of strength: a name that says ``rank_7``; a folder that says so; a number in the name that varies from
file to file as ranks do. What could be read in two ways stays without a rank, with the reason: a dump that is
taken for another rank's makes an innocent rank look guilty.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from rankandfile.evidence.owners.path_clues import RANKS, Clues, Number, clues, may_be_host

_MANY = 10_000
"""From here on, a number may well be a process id."""


#: What a process without a rank writes: `rank_-1`. `rank-1` is rank 1.
_NEGATIVE = re.compile(r"rank(?:_?id)?[_.= :]+-[0-9]")


class Owner(NamedTuple):
    rank: int | None
    rank_from: str | None
    """name or folder"""
    host: str | None
    doubt: str | None
    """Why there is no rank."""


class _Answer(NamedTuple):
    rank: int | None = None
    rank_from: str | None = None
    doubt: str | None = None


def whose(sources: Sequence[str], lone: bool = True) -> list[Owner]:
    """The owner of each file, in the order given.

    `lone`: a single number in a name without brothers is the rank. So it is with dumps, of which each rank writes its
    own; a log of that name, `train-4711.out`, is rather the whole job's, and the number the job's.
    """
    found = _without_title([clues(source) for source in sources])
    stated = [
        _doubt("its name states a negative rank") if _NEGATIVE.search(source.lower()) else _stated(clue)
        for source, clue in zip(sources, found, strict=True)
    ]
    families: dict[str, list[int]] = defaultdict(list)
    for index, answer in enumerate(stated):
        if answer is None:
            families[found[index].template].append(index)
    compared = {
        index: answer
        for members in families.values()
        for index, answer in zip(members, _family([found[index] for index in members], lone), strict=True)
    }
    whole = [answer or compared[index] for index, answer in enumerate(stated)]
    hosts = _hosts(found, whole)
    return [Owner(*answer[:2], host, answer.doubt) for answer, host in zip(whole, hosts, strict=True)]


def _without_title(found: list[Clues]) -> list[Clues]:
    """Without what the folders say, if they all say one rank, and would give several files to it that are brothers: a
    folder called `hang_rank3` is named for what went wrong, and holds the files of all."""
    told = {clue.told_by_folder for clue in found} - {None}
    if len(told) != 1:
        return found
    here = [clue for clue in found if clue.told_by_folder is not None]
    named = {tuple(sorted(clue.told)) for clue in here if clue.told}
    brothers: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for clue in here:
        brothers[clue.template].add(tuple(number.digits for number in clue.numbers))
    if len(named) < 2 and all(len(numbers) < 2 for numbers in brothers.values()):
        return found
    return [clue._replace(told_by_folder=None) for clue in found]


def _stated(clue: Clues) -> _Answer | None:
    """What the path says in words; None where it does not."""
    told = clue.told
    if len(told) > 1:
        return _doubt(f"its name states several ranks: {', '.join(map(str, sorted(told)[:4]))}")
    if not told:
        return None if clue.told_by_folder is None else _checked(clue.told_by_folder, "folder")
    (rank,) = told
    # Whatever its folder is called: who wrote the file named it.
    return _checked(rank, "name")


def _checked(rank: int, rank_from: str) -> _Answer:
    if rank >= RANKS:
        return _doubt(f"no job has a rank as high as {str(rank)[:20]}")
    return _Answer(rank, rank_from)


def _doubt(why: str) -> _Answer:
    return _Answer(doubt=why)


def _family(members: list[Clues], lone: bool) -> list[_Answer]:
    """Files whose names differ in their numbers only: which of the numbers is the rank?"""
    columns = [list(column) for column in zip(*(clue.numbers for clue in members), strict=True)]
    varying = [column for column in columns if len({number.digits for number in column}) > 1]
    if not varying:
        return [_alone(clue, members, lone) for clue in members]
    likely = [column for column in varying if column[0].rankish or _is_row(column)]
    unique = [column for column in likely if _is_unique(members, column)]
    if len(unique) > 1:
        unique = [column for column in unique if column[0].rankish]
    if not unique and len(likely) == 1 and likely[0][0].rankish:
        unique = likely  # several files of each rank
    if len(unique) == 1:
        return _read(unique[0])
    if len(likely) > 1:
        return [_doubt(f"{len(likely)} numbers of its name vary as ranks do")] * len(members)
    return [_doubt("the numbers in the names do not vary as ranks do")] * len(members)


def _is_unique(members: list[Clues], column: list[Number]) -> bool:
    """No two files of one folder share the number."""
    pairs = {(clue.folder, int(number.digits)) for clue, number in zip(members, column, strict=True)}
    return len(pairs) == len(members)


def _is_row(column: list[Number]) -> bool:
    """The numbers are small and follow each other with few gaps, or do so behind digits that all share."""
    values = sorted({int(number.digits) for number in column})
    return (_is_dense(values) and values[-1] < _MANY) or _shared_prefix(
        sorted({n.digits for n in column})
    ) > 0


def _alone(clue: Clues, members: list[Clues], lone: bool) -> _Answer:
    """A name that has no brother to compare it with, or whose brothers lie in other folders."""
    likely = [number for number in clue.numbers if number.rankish]
    if len(likely) == 1 and (lone or likely[0].word):
        return _read(likely)[0]
    if not clue.numbers:
        return _numbered_folder(clue, members)
    if len(clue.numbers) > 1:
        return _doubt(f"its name has {len(clue.numbers)} numbers, and nothing tells which is the rank")
    (number,) = clue.numbers
    if number.glued:
        return _doubt(f"the number in '{number.word}{number.digits}' may belong to the name")
    if not lone:
        return _doubt(f"{number.digits} may be the job's number")
    return _read([number])[0]


def _numbered_folder(clue: Clues, members: list[Clues]) -> _Answer:
    """The same name in folders 0, 1, 2, …: they are ranks if they are a whole row, each there once."""
    numbers = [member.folder_number for member in members]
    if clue.inner:
        return _doubt("its path tells a rank inside a machine or group, not in the job")
    if clue.folder_number is None:
        return _doubt("nothing in its path names one")
    if len(numbers) > 1 and set(numbers) == set(range(len(numbers))):
        return _Answer(clue.folder_number, "folder")
    return _doubt(f"the folder '{clue.folder_number}' may be a rank or anything else that is counted")


def _read(numbers: list[Number]) -> list[_Answer]:
    """The ranks that numbers of one place in the names stand for.

    A dump's name is a prefix of the user's choice and the rank. Where the prefix ends in a digit, 'run42' and
    rank 7 make 'run427': digits that all names share can belong to either.
    """
    digits = sorted({number.digits for number in numbers})
    values = sorted({int(text) for text in digits})
    rankish = numbers[0].rankish
    cut = _shared_prefix(digits)
    if cut and len(digits) > 10:
        return [_Answer(int(number.digits[cut:]), "name") for number in numbers]
    if cut and not (rankish and values[-1] < 1000):
        first = digits[0]
        return [
            _doubt(
                f"'{first}' may be rank {int(first)}, or rank {int(first[cut:])} after a name ending in {first[:cut]}"
            )
        ] * len(numbers)
    if values[-1] >= RANKS or (
        values[-1] >= _MANY and not (rankish and len(values) > 1 and _is_dense(values))
    ):
        return [_doubt("the number in its name may be a process or job id")] * len(numbers)
    return [_Answer(int(number.digits), "name") for number in numbers]


def _is_dense(values: list[int]) -> bool:
    return values[-1] - values[0] < 2 * len(values) or values[-1] < 2 * len(values)


def _shared_prefix(digits: list[str]) -> int:
    """How many leading digits, shared by all, leave exactly 0, 1, 2, …; 0 if none do."""
    for cut in range(len(digits[0]) - 1, 0, -1):
        if len({text[:cut] for text in digits}) > 1:
            continue
        rests = {text[cut:] for text in digits}
        if len(rests) > 1 and rests == {str(number) for number in range(len(rests))}:
            return cut
    return 0


def _hosts(found: list[Clues], answers: list[_Answer]) -> list[str | None]:
    """The hosts that paths name; and where none does, folders that divide the ranks among them as hosts do."""
    ranks: dict[str, set[int]] = defaultdict(set)
    for clue, answer in zip(found, answers, strict=True):
        if answer.rank is not None:
            ranks[clue.folder].add(answer.rank)
    names = {folder: folder.rpartition("/")[2] for folder in ranks}
    divided = (
        len(ranks) > 1
        and len(set(names.values())) == len(names)
        and all(may_be_host(name) for name in names.values())
        and sum(map(len, ranks.values())) == len(set().union(*ranks.values()))
    )
    return [clue.host or (names.get(clue.folder) if divided else None) for clue in found]
