"""Where those stand whom a finding names: the line of a verdict that has none of its own."""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.diagnosis import Location
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import location_of
from rankandfile.reason.verdict.finding import Finding

#: Who did this did it where he stands; who skipped a call, or whose device fails, stands anywhere.
_WHERE_IT_STANDS = frozenset(
    (
        "different_collective", "order_inversion", "size_mismatch", "dtype_mismatch", "split_mismatch", "root_mismatch",
        "group_mismatch", "host_blocked", "host_slow", "raised", "init_stuck", "teardown_only",
    )
)  # fmt: skip


def with_own_place(facts: Facts, finding: Finding) -> Finding:
    """The finding, at the one line of the program that tells of all whom it names; unchanged if there is none."""
    if finding.location is not None or not finding.culprits or finding.cause not in _WHERE_IT_STANDS:
        return finding
    found = [_own_place(facts, rank) for rank in finding.culprits]
    first = found[0]
    # Where others stand too nobody made a call of his own.
    if finding.cause == "different_collective" and first in [
        _own_place(facts, rank) for rank in finding.victims
    ]:
        return finding
    alike = first is not None and all(
        place is not None and (place.file, place.line) == (first.file, first.line) for place in found
    )
    return replace(finding, location=first) if alike else finding


def _own_place(facts: Facts, rank: int) -> Location | None:
    """By its stack, else by the line that made the call it gave up on, else by the exception that it raised."""
    stand = facts.hosts.get(rank)
    if stand is not None:
        return stand.location if stand.location.line else None
    accounts = facts.accounts
    sites = {report.site for report in accounts.of_rank.get(rank, ()) if report.seq is not None} - {None}
    if len(sites) == 1:
        return location_of(sites.pop())
    for errors in (accounts.raised, accounts.waited_in_vain, accounts.echoes):
        if (error := errors.get(rank)) is not None:
            return location_of(error.place)
    return None
