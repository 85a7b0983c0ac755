"""Nothing hangs: also found by `too_short_timeout` where no watchdog gave up, and where nothing recorded waits."""

from __future__ import annotations

from rankandfile.model.causes import Cause
from rankandfile.reason.finder import finder
from rankandfile.reason.toolbox import Facts, WaitEnd, call_phrase, cited, first_pending, pending_row
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, verb

CAUSE = Cause(
    word="no_hang",
    family="not_a_fault",
    place=20,
    meaning="No rank waits for another.",
    help="Every call that was recorded has ended, or the job went on afterwards.",
    title="Nobody waits",
    page="""
## How it comes about

Dumps are also written by jobs that work, and by jobs that were stopped on purpose. Where every call has ended, that is
what the verdict says, and the exit status is 0.
""",
    scenario="healthy-3d",
)


@finder(precedence=5)
def went_on_after(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """Whoever watched the job saw that the call in which others waited ended after all."""
    call = first_pending(facts, wait_end)
    later = {rank: seen for rank, seen in facts.accounts.work.items() if seen.work.went_on_s is not None}
    if call is None or not later.keys() & {*call.waiting}:
        return None
    after = min(seen.work.went_on_s or 0.0 for seen in later.values())
    late = wait_end.ranks if wait_end.kind == "absent" else ()
    who = f"; {ranks_words(late)} {verb(late, 'was', 'were')} late, and not stuck" if late else ""
    waiting = sorted({*call.waiting} & later.keys())
    return Finding(
        cause=CAUSE.word,
        confidence="established",
        hang=False,
        sentence=(
            f"The {call_phrase(facts, call)}, in which {ranks_words(waiting)} waited, ended {after:.0f} s after the "
            f"job was looked at{who}."
        ),
        evidence=(*cited(pending_row(facts, call)), *(i for rank in waiting for i in later[rank].evidence)),
        contradicted_by="a record of the call that it failed",
    )
