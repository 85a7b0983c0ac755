"""Marks added up: shares with confidence intervals, per cause and overall."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec

from .judge import Marks

Z = 1.96
"""Of a 95 % interval."""


class Share(msgspec.Struct, kw_only=True):
    right: int
    asked: int
    low: float
    high: float

    def __str__(self) -> str:
        if not self.asked:
            return "-"
        return f"{self.right}/{self.asked} ({self.right / self.asked:.0%}, {self.low:.0%}-{self.high:.0%})"


class ScoreRow(msgspec.Struct, kw_only=True):
    of: str
    """The true cause, or what was taken away from the incidents; `all`."""
    incidents: int
    hang: Share
    culprits: Share
    cause_named: Share
    divergence: Share
    location: Share
    condition: Share
    group: Share
    """Of analysers of logs: the stuck group, where the logs tell it."""
    behind: Share
    misplaced: int
    """Incidents in which a place was named, and a wrong one."""
    placed: int
    """Incidents of which the place is known, and in which one was named."""
    innocents: int
    """Incidents in which somebody innocent was blamed."""
    abstained_rightly: int
    abstained_wrongly: int
    failed: int
    seconds: float
    peak_mib: float


def share(values: Sequence[bool | None]) -> Share:
    """Right among those asked, with Wilson's interval: honest for small numbers and for 100 %."""
    asked = [value for value in values if value is not None]
    n, right = len(asked), sum(asked)
    if not n:
        return Share(right=0, asked=0, low=0.0, high=0.0)
    p = right / n
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    spread = Z * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n)
    # The interval holds the share itself; only rounding could say otherwise.
    return Share(
        right=right, asked=n, low=max(0.0, min(p, middle - spread)), high=min(1.0, max(p, middle + spread))
    )


def row(of_them: str, marks: Sequence[Marks]) -> ScoreRow:
    def of(question: Callable[[Marks], bool | None]) -> Share:
        return share([question(mark) for mark in marks])

    return ScoreRow(
        of=of_them,
        incidents=len(marks),
        hang=of(lambda mark: mark.hang_right),
        culprits=of(lambda mark: mark.culprits_right),
        cause_named=of(lambda mark: mark.cause_right),
        divergence=of(lambda mark: mark.divergence_right),
        location=of(lambda mark: mark.location_right),
        condition=of(lambda mark: mark.condition_right),
        group=of(lambda mark: mark.group_right),
        behind=of(lambda mark: mark.behind_right),
        misplaced=sum(mark.location_wrong is True for mark in marks),
        placed=sum(mark.location_wrong is True or mark.location_right is True for mark in marks),
        innocents=sum(bool(mark.innocents_blamed) for mark in marks),
        abstained_rightly=sum(mark.abstained_rightly is True for mark in marks),
        abstained_wrongly=sum(mark.abstained_rightly is False for mark in marks),
        failed=sum(mark.failed is not None for mark in marks),
        seconds=sum(mark.seconds for mark in marks),
        peak_mib=max((mark.peak_mib for mark in marks), default=0.0),
    )


def of_variants(marks: Sequence[Marks]) -> bool:
    """Something was taken away from each of the incidents."""
    return bool(marks) and all(mark.removed for mark in marks)


def tally(marks: Sequence[Marks]) -> list[ScoreRow]:
    """One row per true cause, in alphabetical order, and one for all; of variants, per what was taken away."""
    variants = of_variants(marks)
    by_name: dict[str, list[Marks]] = {}
    for mark in marks:
        by_name.setdefault(mark.removed if variants else mark.cause_expected, []).append(mark)
    return [*(row(name, by_name[name]) for name in sorted(by_name)), row("all", marks)]
