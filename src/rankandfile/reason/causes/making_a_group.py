"""A rank without a single call, while somebody waits in a group of which nobody that is known is missing.

Making a group is no recorded call. Ranks that disagree on who makes which wait for each other there, unseen.
"""

from __future__ import annotations

import re

from rankandfile.model.diagnosis import Alternative, Missing
from rankandfile.model.ranks import format_ranks
from rankandfile.reason import look
from rankandfile.reason.facts import Facts
from rankandfile.reason.patience import Patience, patience
from rankandfile.reason.waiting import call_phrase, first_pending, pending_row, waiting_sentence
from rankandfile.reason.waits import Pending, Root
from rankandfile.reason.words import ranks_words, upper, verb

from .finding import Finding

CAUSE = "undetermined"

_MAKES = re.compile(r"new_group|new_subgroups|split_group|_new_process_group|init_device_mesh")


def may_be(facts: Facts, root: Root) -> bool:
    return bool(_incomplete(facts)) and not any(facts.working.of_rank(rank).height for rank in root.ranks)


def _incomplete(facts: Facts) -> list[Pending]:
    """Calls in groups whose members are not recorded, that all known members have joined and that do not end."""
    unsure = facts.membership.unsure
    calls = [call for call in facts.waits.pending if call.group in unsure and call.slot is not None]
    return [call for call in calls if not (call.lacking or call.unknown or call.busy or call.behind)]


def _makes_one(facts: Facts, rank: int) -> bool:
    """Its stack stands where a group is made."""
    stand = facts.hosts.get(rank)
    return stand is not None and stand.activity == "init" and _MAKES.search(stand.op) is not None


def _alone_in_it(facts: Facts, root: Root, call: Pending) -> Finding:
    """Making a group takes every rank of the job: some are at it, and others wait in a call for those."""
    row = pending_row(facts, call)
    stand = facts.hosts[root.ranks[0]]
    return Finding(
        cause="group_mismatch",
        confidence="supported",
        sentence=(
            f"{upper(ranks_words(root.ranks))} {verb(root.ranks, 'makes', 'make')} a group ({stand.words}), which "
            f"takes every rank of the job. {waiting_sentence(facts, root, root.ranks)} They disagree on which groups "
            "there are, or make them in another order. Which of them is right, this does not say."
        ),
        location=stand.location,
        evidence=(
            *([look.evidence_of(row)] if row else []),
            *(i for rank in root.ranks[:4] for i in facts.hosts[rank].evidence),
        ),
        contradicted_by="a stack of the waiting ranks in new_group",
        alternatives=(
            Alternative(
                cause="init_stuck",
                confidence="hypothesis",
                sentence=f"{upper(ranks_words(root.ranks))} may only be late in setting up.",
                culprits=format_ranks(root.ranks),
                decided_by="another look at the stacks",
            ),
        ),
        explains=len(root.victims),
    )


def find(facts: Facts, root: Root) -> Finding | None:
    if root.kind != "absent":
        return None
    call = first_pending(facts, root)
    if call is None or patience(facts, call) is Patience.NOT_YET:
        return None
    if all(_makes_one(facts, rank) for rank in root.ranks):
        return _alone_in_it(facts, root, call)
    if not may_be(facts, root):
        return None
    open_call = _incomplete(facts)[0]
    rows = [row for c in (call, open_call) if (row := pending_row(facts, c))]
    those = ranks_words(root.ranks)
    return Finding(
        cause=CAUSE,
        confidence="hypothesis",
        sentence=(
            f"{upper(those)} {verb(root.ranks, 'has', 'have')} made no call at all, and "
            f"{ranks_words(open_call.waiting)} {verb(open_call.waiting, 'waits', 'wait')} in the "
            f"{call_phrase(facts, open_call)}, which lacks nobody who ever used that group. Making a group is not "
            f"recorded: {those} may still be in `new_group`, if the ranks disagree on which groups there are."
        ),
        location=look.location_of(facts, rows[-1]) if rows else None,
        evidence=tuple(look.evidence_of(row) for row in rows),
        contradicted_by="a stack that is not in new_group",
        alternatives=tuple(
            Alternative(
                cause=cause,
                confidence="hypothesis",
                sentence=words,
                culprits=format_ranks(ranks),
                decided_by="the stacks, and the lines that make the groups",
            )
            for cause, words, ranks in (
                ("group_mismatch", "Not every rank makes every group, in the same order.", ()),
                ("host_blocked", f"{upper(those)} may be stuck before the first call.", root.ranks),
            )
        ),
        missing=(Missing(what=f"the stacks of {those}", how="py-spy dump --pid PID while it hangs"),),
        explains=len(root.victims),
    )
