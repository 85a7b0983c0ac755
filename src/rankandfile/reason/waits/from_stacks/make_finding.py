"""A finding by stacks, with what all of them share: what shows that the ranks stay, who waits, and what to ask next."""

from __future__ import annotations

from collections.abc import Iterable

from rankandfile.model.diagnosis import Alternative, Confidence, Divergence, Location, Missing
from rankandfile.reason.ranks.did_instead import Story
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb
from rankandfile.recorder_names import BEFORE, RING

from .where_all_stand import STILL_NS, WhereAllStand


def make_finding(
    of: WhereAllStand,
    *,
    cause: str,
    confidence: Confidence,
    what: str,
    culprits: tuple[int, ...],
    doing: dict[int, str],
    evidence: Iterable[str],
    location: Story | None = None,
    place: Location | None = None,
    alternatives: tuple[Alternative, ...] = (),
    missing: tuple[Missing, ...] = (),
    divergence: Divergence | None = None,
    hang: bool | None = True,
    also: str = "",
    lasts: str = "",
) -> Finding:
    """The finding, with the proof that the ranks stay (or that none is there), the victims, and what to ask next.

    `lasts`: what shows of this very wait that it never ends.
    """
    proof = lasts or of.stays
    stays = f" {upper(proof)}." if proof and hang else ""
    unproved = "" if proof or not hang else " Nothing shows that they stay there: this holds if the job hung."
    if of.alike and unproved:
        pause = f"They stood there for {of.apart_ns / 1e9:.0f} s, which may be a pause"
        moments = "All looks at them may have been within moments"
        unproved = f" {pause if of.apart_ns >= STILL_NS else moments}: this holds if the job hung."
    seen = [stand.evidence[0] for stand in of.waiting.values() if stand.evidence][:4]
    return Finding(
        cause=cause,
        confidence=confidence,
        sentence=f"{what}.{stays}{also}{unproved}",
        culprits=culprits,
        doing=doing,
        location=location.location if location is not None else place,
        divergence=divergence,
        evidence=tuple(dict.fromkeys([*evidence, *seen])),
        alternatives=alternatives,
        missing=missing or ((next_step(of),) if confidence == "hypothesis" else ()),
        victims=tuple(sorted(set(of.waiting) - set(culprits))),
        hang=hang,
        holds_if_hung=bool(unproved),
        unadvised=() if culprits else ("anti_advice", "probes"),
    )


def next_step(of: WhereAllStand) -> Missing:
    """The one thing that would tell most, by what is not known yet."""
    compiled = not of.facts.case.frames["file"].str.ends_with(".py").any()
    tool = 'gdb -p PID -batch -ex "thread apply all bt"' if compiled else "py-spy dump --pid PID"
    if not of.stays:
        return Missing(
            what="whether they move",
            how=f"{tool} on each rank once more, a minute later; --hung if you know that it hung",
        )
    if not of.waiting:
        return Missing(
            what="what these lines do",
            how=f"{tool.replace('dump', 'dump --native')} on each rank, or --src DIR: the text of a line tells",
        )
    if of.unseen:
        return Missing(
            what=f"the {verb(of.unseen, 'stack', 'stacks')} of {ranks_words(of.unseen)}",
            how=tool,
        )
    if of.facts.code.makes_groups is None:
        return Missing(what="the program's source", how="--src DIR: which condition leads to each place")
    return Missing(
        what="the calls that led there",
        how=f"flight-recorder dumps of all ranks: {RING}=2000 ({BEFORE}), or start the job with `raf run`",
    )
