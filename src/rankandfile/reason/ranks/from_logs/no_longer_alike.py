"""A number that all ranks' logs had alike, round after round, and that is another one on a few in their last lines.

`best member is 3`, where all others wrote `best member is 1`, and until then all wrote the same: whatever it is that
they had agreed on, these few no longer do. Of several that may have named another root, it tells who did.
"""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.column import Row
from rankandfile.model.diagnosis import Divergence
from rankandfile.model.events import event_id
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import Pending
from rankandfile.reason.words import counted, ranks_words, upper

from .accounts import fields_of


def no_longer_alike(row: Row) -> str:
    """`wrote "best member is 3", where 3 others wrote "best member is 1"; in the 2 such lines before, ...`."""
    fields = fields_of(row)
    text, others, other = row["text"], fields["others"], fields["other"]
    before, value = fields["before"], fields["value"]
    return (
        f'wrote "{text}", where {counted(others, "other")} wrote "{other}"; in the {before} such lines before, all '
        f'ranks wrote the same in the place of "{value}"'
    )


def named_by_logs(facts: Facts, call: Pending, finding: Finding) -> Finding:
    """The finding that members disagree about a root, with those of them as culprits whose logs say so."""
    odd = _odd(facts, call)
    if not odd:
        return finding
    told = "; ".join(f"{upper(ranks_words([rank]))} {no_longer_alike(row)}" for rank, row in odd.items())
    return replace(
        finding,
        culprits=tuple(sorted(odd)),
        confidence="supported",
        doing={rank: f'wrote "{row["text"]}", and the others another number' for rank, row in odd.items()},
        sentence=f"{finding.sentence} {told}.",
        divergence=_without_values(finding.divergence),
        evidence=(
            *finding.evidence,
            *(event_id(int(row["log"]), int(row["line"])) for row in list(odd.values())[:3]),
        ),
    )


def _without_values(divergence: Divergence | None) -> Divergence | None:
    """Who is done and who waits is no root: what each named, the calls do not tell."""
    if divergence is None:
        return None
    sides = [
        replace(side, call=replace(side.call, detail=None) if side.call is not None else None)
        for side in divergence.cohorts
    ]
    return replace(divergence, cohorts=sides)


_NOBODY: dict[int, Row] = {}


@heuristic(
    "no longer alike in logs",
    "who writes another number than most, where all wrote the same before, is who names another root",
    otherwise=_NOBODY,
)
def _odd(facts: Facts, call: Pending) -> dict[int, Row]:
    """The few members whose logs say so: rank -> the line."""
    members = facts.membership.members[call.group]
    rows = [row for row in facts.case.compared_lines if row["kind"] == "value_differs_now"]
    odd = {int(row["rank"]): row for row in rows if row["rank"] in members and _names_members(row, members)}
    one_line = len({str(row["text"]).translate(_NO_DIGITS) for row in odd.values()}) == 1
    return odd if one_line and len(odd) * 2 < len(members) else _NOBODY


_NO_DIGITS = str.maketrans("", "", "0123456789.")


def _names_members(row: Row, members: list[int]) -> bool:
    """What differs can be whom they take for the root."""
    fields = fields_of(row)
    return {int(fields["value"]), int(fields["usual"])} <= {*members}
