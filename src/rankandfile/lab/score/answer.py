"""What an analyser said of one incident, in the terms that are scored."""

from __future__ import annotations

import msgspec

from rankandfile.lab.truth import long_ranks
from rankandfile.model.diagnosis import Diagnosis, Verdict


class Site(msgspec.Struct, frozen=True):
    file: str
    line: int


class Answer(msgspec.Struct, kw_only=True):
    hang: bool | None = None
    """None: it does not say whether there is one."""
    culprits: list[int] = []
    cause: str | None = None
    group: str | None = None
    seq: int | None = None
    waiting: list[int] = []
    """Ranks that came to the call at the divergence."""
    behind: list[int] = []
    """Ranks that did not."""
    sites: list[Site] = []
    """Call sites of the cohorts at the divergence."""
    location: Site | None = None
    function: str | None = None
    """Of the location."""
    condition_line: int | None = None
    failed: str | None = None
    """Why it gave no answer at all: a crash, a refusal, a timeout."""
    seconds: float = 0.0
    peak_mib: float = 0.0

    @property
    def abstains(self) -> bool:
        """It names nobody, and does not claim that all is well."""
        return not self.culprits and self.hang is not False


def from_diagnosis(diagnosis: Diagnosis) -> Answer:
    """All verdicts together name the culprits; the first one speaks for cause and divergence."""
    verdicts = diagnosis.verdicts
    if not verdicts:
        return Answer(failed="no verdict")
    best = verdicts[0]
    answer = Answer(
        hang=_hang(verdicts),
        culprits=sorted({culprit.rank for verdict in verdicts for culprit in verdict.culprits}),
        cause=None if best.cause == "undetermined" else best.cause,
    )
    _divergence(answer, best)
    # Of two faults at a time, one may be in no line of the program.
    place = next(
        (v.location for v in verdicts if v.location is not None and v.location.line is not None), None
    )
    if place is not None and place.line is not None:
        answer.location = Site(place.file, place.line)
        answer.function = place.function
        answer.condition_line = place.condition_line
    return answer


def _hang(verdicts: list[Verdict]) -> bool | None:
    """Of several, one that says so is enough; where the best leaves it open, none of them denies it."""
    if any(verdict.hang for verdict in verdicts):
        return True
    best = verdicts[0]
    return None if best.hang is None or best.cause == "undetermined" else False


def _divergence(answer: Answer, verdict: Verdict) -> None:
    divergence = verdict.divergence
    if divergence is None:
        answer.group = verdict.waits[0].group if verdict.waits else None
        return
    answer.waiting = [r for c in divergence.cohorts if c.call is not None for r in long_ranks(c.ranks)]
    answer.behind = [r for c in divergence.cohorts if c.call is None for r in long_ranks(c.ranks)]
    answer.group, answer.seq = divergence.group, divergence.seq
    answer.sites = [
        Site(cohort.call.file, cohort.call.line)
        for cohort in divergence.cohorts
        if cohort.call is not None and cohort.call.file is not None and cohort.call.line is not None
    ]
