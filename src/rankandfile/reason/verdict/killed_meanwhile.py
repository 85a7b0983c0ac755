"""A process was killed while no recorded call waited: its peers heard of it otherwise, or had not come to one yet."""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.dump_times import written_ns
from rankandfile.reason.words import ranks_words, upper, verb

from .finding import Finding

_MOST_TOLD = 4
_AT_ONCE_NS = 60_000_000_000
"""Whoever ends a job that hangs looks at it for longer."""


def killed_meanwhile(facts: Facts) -> Finding | None:
    """Never of all: whoever ends a whole job so ends it from outside, and no rank of it is at fault."""
    accounts, everyone = facts.accounts, range(world_of(facts))
    ends = {rank: accounts.ends[rank] for rank in everyone if rank in accounts.ends}
    killed = {rank: end for rank, end in ends.items() if end.kind == "killed"}
    if not killed or len(killed) == len(everyone):
        return None
    ranks = tuple(killed)
    told = "; ".join(
        f"{ranks_words([rank])} was {end.words}" for rank, end in list(killed.items())[:_MOST_TOLD]
    )
    more = f"; and {len(killed) - _MOST_TOLD} more" if len(killed) > _MOST_TOLD else ""
    broke_off = all(map(accounts.gone, everyone)) and _at_once(facts)
    before = "The job did not hang, it broke off: " if broke_off else ""
    after = (
        "All others ended, too."
        if broke_off
        else "Whether the others waited for something that is not recorded, nothing tells."
    )
    against = [words for end in killed.values() for words in end.contradicted]
    disagree = f" The sources disagree: {'; '.join(against[:_MOST_TOLD])}." if against else ""
    return Finding(
        hang=False if broke_off else None,
        cause="killed",
        confidence="supported" if against else "established",
        sentence=(
            f"{upper(before + told)}{more}. No recorded call waits for {verb(ranks, 'it', 'them')}. {after}{disagree}"
        ),
        culprits=ranks,
        doing={rank: end.words for rank, end in killed.items()},
        evidence=tuple(dict.fromkeys(i for end in killed.values() for i in end.evidence))[:8],
        contradicted_by="a word of the launcher that it ended the process after another had failed",
    )


def _at_once(facts: Facts) -> bool:
    last, written = facts.call_table.calls["created_ns"].max(), written_ns(facts.case, facts.clocks)
    return isinstance(last, int) and written is not None and written - last <= _AT_ONCE_NS
