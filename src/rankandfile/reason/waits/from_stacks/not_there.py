"""The few ranks that left no stack, where all others have one and wait."""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.document import perhaps
from rankandfile.reason.finders.whole_job.odd_in_logs import said_differently
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, shortened, upper, verb

from .in_words import waiting_words
from .make_finding import make_finding
from .set_up_anew import SETUP
from .where_all_stand import WhereAllStand


@heuristic(
    "few without a stack", "the few that left no stack, where all others have one and wait, are missing"
)
def not_there(of: WhereAllStand) -> Finding | None:
    """All but a few were seen, and all of them wait: the few have not come, or are gone."""
    those = of.unseen
    if set(those) & of.heard_of_it or of.facts.case.unlooked.height:
        # Where nobody looked, who has no stack may only be in a call that its watchdog has not given up on yet.
        return None
    if not those or of.elsewhere or len(of.waiting) < 2 or len(those) * 2 >= len(of.waiting) + len(those):
        return None
    line = {r: of.facts.accounts.last_lines.get(r) for r in those}
    raised = {r: of.facts.accounts.raised[r] for r in those if r in of.facts.accounts.raised}
    doing = {
        rank: f"no stack of it; it raised {raised[rank].words}"
        if rank in raised
        else "no stack of it, where all others have one"
        + (f"; its last line is '{shortened(last, 80)}'" if (last := line[rank]) else "")
        for rank in those
    }
    # A rank that ended because others had failed left no stack either: its log must be here to tell.
    sure = of.stays and len(those) == 1 and not of.transfers and those[0] in of.facts.accounts.logged
    sure = sure and not _counted_out(of, those)
    gone = () if all(of.facts.accounts.alive(rank) for rank in those) else ("killed", "early_exit")
    # Whoever raised, and is not there to be looked at, does not come any more.
    sure = sure or (len(raised) == len(those) and of.alike)
    return make_finding(
        of,
        cause="raised" if len(raised) == len(those) else "undetermined",
        confidence="supported" if sure else "hypothesis",
        what=(
            f"{waiting_words(of, of.waiting, '')}. {upper(ranks_words(those))} {verb(those, 'is', 'are')} not among "
            f"them: {'; '.join(dict.fromkeys(doing.values()))}"
        ),
        culprits=those,
        doing=doing,
        evidence=[i for error in raised.values() for i in error.evidence],
        alternatives=()
        if raised
        else tuple(
            perhaps(cause, words, those, decided_by=by)
            for cause, words, by in (
                ("killed", "Its process may be gone.", "its exit code, the kernel log of its host"),
                ("early_exit", "It may have left the loop, and ended.", "its exit code, the end of its log"),
                ("peer_unreachable", "Its host may not answer.", "whether its host answers"),
                ("host_blocked", "It may be held, and nobody could look.", "its stack"),
            )
            # A process that the list of exits has as running has not ended.
            if cause in gone or cause not in ("killed", "early_exit")
        ),
        missing=(
            Missing(
                what=f"the stack of {ranks_words(those)}",
                how="py-spy dump --pid PID on its host; if the process is gone, its exit code and the end of its log",
            ),
        ),
    )


def _counted_out(of: WhereAllStand, those: tuple[int, ...]) -> bool:
    """Whether they said that they leave, and the others are in a setup that the source does not show to be of all: it
    may be one of those that are left, as a program makes it that goes on with fewer."""
    of_all = of.facts.code.sets_up_all
    set_up = all(
        stand.op == SETUP and (stand.location.file, stand.location.line) not in of_all
        for stand in of.waiting.values()
    )
    left = {said.rank for said in said_differently(of.facts.case) if said.cause == "early_exit"}
    return set_up and left >= set(those)
