"""All but a few gave up on a call by an exception, and the few raised nothing: those had not come.

A wait that runs out ends in an exception on whoever waited. A rank that was in the call would have raised it, too.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, shortened, upper, verb

_FEWEST = 2
_LONGEST = 120


@finder(precedence=55, of="logs")
def waited_in_vain(facts: Facts, _: WaitEnd) -> Finding | None:
    accounts = facts.accounts
    waited = {rank: error for rank, error in accounts.waited_in_vain.items() if rank not in accounts.raised}
    told = {
        *accounts.raised,
        *accounts.echoes,
        *accounts.device,
        *accounts.gave_up,
        *accounts.ends,
        *facts.hosts,
    }
    silent = tuple(rank for rank in range(world_of(facts)) if rank not in waited and rank in accounts.logged)
    if len(waited) < _FEWEST or not silent or len(silent) >= len(waited) or told & {*silent}:
        return None
    if {*waited, *silent} != set(range(world_of(facts))) or len({e.place for e in waited.values()}) > 1:
        return None
    lines = {rank: shortened(accounts.last_lines.get(rank, ""), _LONGEST) for rank in silent}
    doing = {
        rank: "raised nothing, where all others gave up on the call"
        + (f"; its last line is '{line}'" if line else "")
        for rank, line in lines.items()
    }
    first = next(iter(waited.values()))
    place = first.place
    where = f" in {place.function}, {place.file.rpartition('/')[2]}:{place.line}" if place else ""
    return Finding(
        cause="host_blocked",
        # A launcher ends all others at the first exception: one that was in the call may not have got to raise it.
        confidence="hypothesis",
        sentence=(
            f"{upper(ranks_words(sorted(waited)))} waited{where} until the time was over, and raised that. "
            f"{upper(ranks_words(silent))}: {'; '.join(dict.fromkeys(doing.values()))}."
        ),
        culprits=silent,
        doing=doing,
        victims=tuple(sorted(waited)),
        evidence=tuple(dict.fromkeys(i for error in waited.values() for i in error.evidence[:1]))[:6],
        contradicted_by="a stack or a line of it in the same call",
        alternatives=tuple(
            perhaps(cause, words, silent, decided_by=by)
            for cause, words, by in (
                ("killed", "Its process may be gone.", "its exit code, the kernel log of its host"),
                ("skipped_collective", "It may have left the call out, and be in another.", "its stack"),
            )
        ),
        missing=(
            Missing(
                what=f"where {ranks_words(silent)} {verb(silent, 'stands', 'stand')}",
                how="py-spy dump --pid PID on its host, while it hangs",
            ),
        ),
    )
