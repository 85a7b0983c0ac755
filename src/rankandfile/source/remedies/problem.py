"""What a fix pattern needs to know of a hang: where the ranks diverged, and what each cohort called there."""

from __future__ import annotations

from msgspec import Struct

from rankandfile.model.diagnosis import Diagnosis, Verdict
from rankandfile.model.ranks import parse_ranks


class Site(Struct, frozen=True):
    """What one cohort called at the divergence; an empty `op` means that it called nothing more."""

    ranks: tuple[int, ...]
    op: str = ""
    file: str = ""
    line: int = 0
    function: str = ""


class Problem(Struct, frozen=True):
    cause: str
    file: str
    line: int
    """Of the deciding condition, where there is one."""
    function: str = ""
    condition: str = ""
    culprits: tuple[int, ...] = ()
    kind: str = ""
    """The divergence's kind: skipped, extra, substituted, swapped, absent, argument, cycle."""
    whole_job: bool | None = None
    """Whether the group that diverged is all of the job; none: not known."""
    sites: tuple[Site, ...] = ()
    world: int = 0
    """How many ranks the job has at least; 0: not known."""

    guessed: bool = False
    """Nothing was recorded, and what is left does not tell who went wrong, or in what way."""
    unexplained: bool = False
    """It was not found in the source why the condition can come out differently: it may be another that did."""
    changed: str = ""
    """File and line of the decision upon which what the line asks for was changed before, or was not."""
    others_unseen: bool = False
    """Nothing shows that all of them came to the line."""

    def culprit_sites(self) -> tuple[Site, ...]:
        """What the culprits called; where all are culprits, or none is known, what anybody called."""
        theirs = tuple(site for site in self.sites if set(site.ranks) & set(self.culprits))
        return theirs or self.sites


def of_verdict(verdict: Verdict, diagnosis: Diagnosis) -> Problem | None:
    """The problem behind a verdict of the diagnosis; none where no line of the source is known."""
    world_size = diagnosis.job.world_size
    location = verdict.location
    line = location and (location.parted_line or location.condition_line or location.line)
    if location is None or not line:
        return None
    divergence = verdict.divergence
    sites: list[Site] = []
    members: list[int] | None = None
    if divergence is not None:
        members = _ranks(divergence.members) if divergence.members else None
        for cohort in divergence.cohorts:
            call = cohort.call
            ranks = tuple(_ranks(cohort.ranks))
            if call is None or not call.file:
                sites.append(Site(ranks, call.op if call else ""))
            else:
                sites.append(Site(ranks, call.op, call.file, call.line or 0, call.function or ""))
    return Problem(
        cause=_cause(verdict),
        file=location.parted_file or location.file,
        line=line,
        function=location.function or "",
        condition=location.condition or "",
        culprits=tuple(culprit.rank for culprit in verdict.named),
        kind=divergence.kind if divergence else "",
        whole_job=len(members) == world_size if members and world_size else None,
        sites=tuple(sites),
        world=world_size or 1 + max((r for s in diagnosis.standings for r in _ranks(s.ranks)), default=-1),
        guessed=not diagnosis.job.calls
        and (verdict.confidence == "hypothesis" or verdict.cause == "undetermined"),
        others_unseen=location.others_unseen,
        unexplained=bool(location.condition)
        and not (location.condition or "").startswith("except")
        and not location.why_it_can_differ,
        changed=f"{location.file.rpartition('/')[2]}:{location.line}" if location.parted_line else "",
    )


def _cause(verdict: Verdict) -> str:
    """Where nobody can be blamed for sure, the source may still show the decision at which the ranks diverged, and why
    it can differ: that is a conditional like any other."""
    location = verdict.location
    if verdict.cause == "undetermined" and location and location.condition and location.why_it_can_differ:
        return "rank_conditional"
    return verdict.cause


def _ranks(text: str) -> list[int]:
    try:
        return parse_ranks(text)
    except ValueError:
        return []
