"""Nothing else tells, and one rank's log says what no other's does: a suspect, cited."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder, teller
from rankandfile.reason.ranks.did_instead import AskedRank, Story
from rankandfile.reason.ranks.said_differently import said_differently
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper

_MOST = 4


@finder(precedence=90, of="logs")
def odd_in_logs(facts: Facts, _: WaitEnd) -> Finding | None:
    said = said_differently(facts.case)[:_MOST]
    if not said:
        return None
    told = "; ".join(f"{ranks_words([one.rank])} {one.words}" for one in said)
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        # That logs differ is no sign of a hang.
        hang=facts.hung,
        sentence=f"No line tells of a failure or of a call. What the ranks' logs say differently: {told}.",
        evidence=tuple(one.evidence for one in said),
        alternatives=tuple(
            perhaps(
                one.cause if one.cause != "undetermined" else "host_blocked",
                f"{upper(ranks_words([one.rank]))} {one.words}.",
                [one.rank],
                decided_by="its stack (py-spy dump --pid PID), or the code that prints that line",
            )
            for one in {one.rank: one for one in reversed(said)}.values()
        ),
        missing=(
            Missing(what="where each rank stands", how="stacks of all ranks: py-spy dump --pid PID, twice"),
        ),
        unadvised=("probes",),
    )


@teller(precedence=190)
def said_so_alone(facts: Facts, asked: AskedRank) -> Story | None:
    """A rank that others wait for wrote, alone of all, that it left something out or was about to stop."""
    for one in said_differently(facts.case):
        if one.rank == asked.rank and one.cause != "undetermined":
            return Story(
                cause=one.cause,
                confidence="supported" if len(asked.waiting) > 1 else "hypothesis",
                doing=one.words,
                evidence=(one.evidence,),
                alternatives=(
                    perhaps(
                        "host_blocked",
                        "The line may have nothing to do with it.",
                        [asked.rank],
                        decided_by="its stack",
                    ),
                ),
            )
    return None
