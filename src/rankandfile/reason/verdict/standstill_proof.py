"""What shows that the job stands still: without it a story of who is late is one of a moment, and of no hang."""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.from_logs.proofs import failed_or_stands
from rankandfile.reason.waits.ended_ranks import died_first
from rankandfile.reason.waits.from_stacks.where_all_stand import WhereAllStand
from rankandfile.reason.waits.patience import Patience, all_idle, patience

from .finding import Finding

#: Open calls of which it is asked how long they have waited.
MOST_ASKED = 32
#: Calls that can never end, however long one waits.
_FOR_EVER = ("mismatched", "cycle")


def standstill_proved(facts: Facts) -> bool:
    """A watchdog's or a person's word, looks far apart, a wait beyond all others, or one that can never end."""
    accounts = facts.accounts
    waited = {patience(facts, call) for call in facts.waits.pending[:MOST_ASKED]}
    return bool(
        failed_or_stands(facts)
        or accounts.suspended
        or any(end.kind != "finished" and died_first(accounts, rank) for rank, end in accounts.ends.items())
        or any(end.kind in _FOR_EVER for end in facts.wait_ends)
        or WhereAllStand(facts).stays
        or (all_idle(facts) and Patience.NEW_WORK not in waited)
        or not waited.isdisjoint((Patience.OVER, Patience.LATE))
    )


def hangs_or_not(facts: Facts, finding: Finding) -> bool | None:
    """That nobody can be named, and nothing is seen to wait, does not say that the job was well; nor does a story of
    where ranks stood for a moment say that it was not."""
    if finding.hang is None or finding.holds_if_hung:
        return None
    if not finding.hang:
        return None if finding.cause in ("undetermined", "host_slow") else False
    return None if finding.confidence == "hypothesis" and not standstill_proved(facts) else True
