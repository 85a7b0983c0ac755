"""Claims in the words of sentences: the one place where it is written who waits in which call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from rankandfile.model.claims import Base, Claim, InCall, OfCall, ranks_of
from rankandfile.model.sentence import Clause
from rankandfile.reason.words import ranks_words, upper, verb


def call_of(claim: OfCall) -> str:
    """'all_reduce at trainer.py:88 (group mesh_tp [2,3], seq 50)'."""
    number = "" if claim.seq is None else f", seq {claim.seq}"
    return f"{_brief(claim)} (group {claim.group}{number})"


def _brief(claim: OfCall) -> str:
    file = claim.file and claim.file.replace("\\", "/").rpartition("/")[2]
    return f"{claim.op or 'call'}{f' at {file}:{claim.line}' if file else ''}"


def who_waits(claims: Sequence[Base], whom: str = "", there: bool = False) -> str:
    """'ranks 0-2 wait in the all_reduce ...; rank 3 waits in the barrier ... in its place': of one number of a group.

    `there`: the call was just named.
    """
    first, *others = [claim for claim in claims if isinstance(claim, InCall)]
    where = f"in that {first.op or 'call'}" if there else f"in the {call_of(first)}"
    told = [f"{_wait(first)}{whom} {where}"]
    told += [f"{_wait(other)} in the {_brief(other)} in its place" for other in others]
    return "; ".join(told)


def _wait(claim: Base) -> str:
    ranks = ranks_of(claim)
    return f"{ranks_words(ranks)} {verb(ranks, 'waits', 'wait')}"


def waiting(claims: Iterable[Claim], tail: str = ".") -> Clause:
    """'Ranks 0-2 wait in the all_reduce ...': calls of one number. `tail` follows it."""
    return Clause(claims=tuple(claims), words=lambda held: f"{upper(who_waits(held))}{tail}")


def circle(
    ranks: Sequence[int], calls: Sequence[Sequence[Claim]], awaited: Sequence[Sequence[int]] = ()
) -> Clause:
    """'Ranks 2 and 3 wait for each other in a circle: ...': the calls of each number together, and for whom each."""
    whom = [f", for {ranks_words(others)}" for others in awaited] or [""] * len(calls)

    def words(held: Sequence[Claim]) -> str:
        left = [(left_of(one, held), others) for one, others in zip(calls, whom, strict=True)]
        edges = [f"{who_waits(one)}{others}" for one, others in left if one]
        return f"{upper(ranks_words(ranks))} wait for each other in a circle: {'; '.join(edges)}."

    return Clause(claims=tuple(claim for one in calls for claim in one), words=words)


def left_of(claims: Iterable[Claim], held: Iterable[Claim]) -> list[Claim]:
    """Those of `held` that are what was left of these claims."""
    whole = {_but_ranks(claim): set(ranks_of(claim)) for claim in claims}
    return [claim for claim in held if set(ranks_of(claim)) <= whole.get(_but_ranks(claim), set())]


def _but_ranks(claim: Claim) -> str:
    return repr(msgspec.structs.replace(claim, ranks=""))
