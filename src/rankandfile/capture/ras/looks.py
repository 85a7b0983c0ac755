"""What follows from answers of NCCL's RAS, one after the other.

It counts what the hosts of a communicator have launched, and each at a moment of its own: that counts differ says
nothing of a job that moves. Two things do. All members make the same calls in the same order; so where one has launched
more of one operation and fewer of another, both were not on the way to the same: that is certain, whenever it was
looked. And where nothing is launched any more, and some have launched less than others, these wait.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import msgspec

from rankandfile.capture.ras import words
from rankandfile.evidence.text.logs.ras.answer import Answer, Cohort, Communicator, Member
from rankandfile.model.digest import Finding, Side
from rankandfile.model.ranks import format_ranks

#: How long nothing must have been launched, at least and at most; and how many times the longest pause in which some
#: waited and that ended.
AT_LEAST, AT_MOST, TIMES = 60.0, 600.0, 5.0
#: How many looks one after the other a rank must fall further behind in, and by how many launches each time.
GROWS, MORE = 4, 64

RankOf = Callable[[Communicator, Member], "int | None"]


@dataclass
class _Lag:
    number: int = -1
    looks: list[tuple[float, int]] = field(default_factory=list)


class Looks:
    """Fed with answers; tells each incident once, and when it is over. `rank_of` gives the job's rank of a member."""

    def __init__(self, patience: float | None = None, rank_of: RankOf | None = None) -> None:
        self._patience, self._rank_of = patience, rank_of
        self._last: Answer | None = None
        self._since = self._longest = 0.0
        self._diverged: frozenset[str] = frozenset()
        self._told: set[str] = set()
        self._lags: dict[str, _Lag] = {}
        self._frozen: Finding | None = None

    @property
    def patience(self) -> float:
        """For so long nothing must have been launched."""
        if self._patience is not None:
            return self._patience
        return min(max(AT_LEAST, TIMES * self._longest), AT_MOST)

    def still(self, now: float) -> float:
        """For how long nothing has been launched, as far as the answers tell."""
        return now - self._since if self._last is not None else 0.0

    def look(self, answer: Answer, now: float) -> list[Finding]:
        found: list[Finding] = []
        moved = self._last is None or answer.told != self._last.told
        if moved:
            if self._last is not None and any(one.apart for one in self._last.communicators):
                self._longest = max(self._longest, now - self._since)
            self._since = now
            if self._frozen is not None:
                found.append(msgspec.structs.replace(self._frozen, over=True, time=now, words=words.GOES_ON))
                self._frozen = None
        self._last = answer
        found += self._divergences(answer, now)
        if not moved and self._frozen is None and self.still(now) >= self.patience:
            found += self._stands(answer, now)
        if moved:
            found += self._behind(answer, now)
        return found

    def _divergences(self, answer: Answer, now: float) -> list[Finding]:
        """Seen twice: the counts of one rank are not read all at once."""
        diverged = {one.id: one for one in answer.communicators if parts(one)}
        twice = [one for name, one in diverged.items() if name in self._diverged and name not in self._told]
        self._diverged = frozenset(diverged)
        self._told.update(one.id for one in twice)
        return [
            self._finding("desync", "certain", one, words.diverged(one, parts(one)), now, now)
            for one in twice
        ]

    def _stands(self, answer: Answer, now: float) -> list[Finding]:
        still = self.still(now)
        for one in answer.communicators if answer.whole else ():
            gone = tuple(member for member in one.missing if member.state != "has left")
            if 0 < 2 * len(gone) < one.size:  # where most are gone, the job may be at its end
                line = words.missing(one, gone, still)
                lost = Cohort({}, len(gone), gone)
                self._frozen = self._finding("missing", "likely", one, line, self._since, now, (lost,))
                return [self._frozen]
        apart = [one for one in answer.communicators if one.apart]
        if not apart or any(one.id in self._told for one in apart):
            return []
        line = words.frozen(apart, still, answer.whole)
        main = apart[0].cohorts[0]
        fewer = [part for part in apart[0].cohorts if part is not main and _before(part.counts, main.counts)]
        self._frozen = self._finding("frozen", "possible", apart[0], line, self._since, now, fewer)
        return [self._frozen]

    def _behind(self, answer: Answer, now: float) -> list[Finding]:
        found = []
        for one in answer.communicators:
            if len(one.cohorts) < 2 or f"behind {one.id}" in self._told or one.id in self._told:
                self._lags.pop(one.id, None)
                continue
            front = max(map(_launches, one.cohorts))
            last = min(one.cohorts, key=_launches)
            lag = self._lags.setdefault(one.id, _Lag())
            number = last.members[0].number if last.size == len(last.members) == 1 else -1
            behind = front - _launches(last)
            if number < 0 or number != lag.number or (lag.looks and behind < lag.looks[-1][1] + MORE):
                lag.looks = []
            lag.number = number
            lag.looks = [*lag.looks, (now, behind)][-GROWS:]
            if number >= 0 and len(lag.looks) == GROWS:
                self._told.add(f"behind {one.id}")
                began, before = lag.looks[0]
                line = words.behind(one, last.members[0], behind, before, now - began)
                found.append(self._finding("behind", "likely", one, line, began, now, (last,)))
        return found

    def _finding(
        self, kind: str, sure: str, one: Communicator, line: str, since: float, now: float,
        odd: Sequence[Cohort] | None = None,
    ) -> Finding:  # fmt: skip
        name = hashlib.sha256(f"ras {kind} {one.id} {since}".encode()).hexdigest()[:16]
        fewer = one.cohorts[1:] if odd is None else odd
        ranks = [self._rank(one, member) for part in fewer for member in part.members]
        told = all(rank is not None for rank in ranks) and sum(part.size for part in fewer) == len(ranks)
        named = [rank for rank in ranks if rank is not None] if told else []
        return msgspec.convert(
            {
                "id": name, "kind": kind, "certainty": sure, "words": line[:4000], "since": since, "time": now,
                "group": f"ras {one.id}"[:400], "ranks": format_ranks(named) if 2 * len(named) < one.size else "",
                "sides": tuple(
                    Side(ranks=format_ranks(sorted(m.number for m in part.members)), call=words.counts(part))
                    for part in one.cohorts[:16]
                ),
            },
            Finding,
        )  # fmt: skip

    def _rank(self, one: Communicator, member: Member) -> int | None:
        if self._rank_of is not None:
            return self._rank_of(one, member)
        answer = self._last
        sizes = [other.size for other in answer.communicators] if answer is not None else []
        return member.number if sizes.count(one.size) == 1 and one.size == max(sizes) else None


def parts(one: Communicator) -> tuple[Cohort, ...]:
    """Cohorts of which neither has made all calls that the other has: the odd one first. Empty where there are none."""
    for other, larger in combinations(reversed(one.cohorts), 2):
        if not _before(other.counts, larger.counts) and not _before(larger.counts, other.counts):
            return other, larger
    return ()


def _before(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    """It may be on its way to the other."""
    return all(count <= other.get(op, 0) for op, count in one.items())


def _launches(one: Cohort) -> int:
    return sum(one.counts.values())
