"""Who took up its work at another place than all others: "resumed from step 100", where they resumed from step 120.

All that such a rank calls from there on comes at another time than with its peers. It says so itself, long before a
call shows it; and where the calls tell that ranks are out of step, and not which of them, that tells.
"""

from __future__ import annotations

from msgspec.structs import replace

from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.log_words import TOOK_UP
from rankandfile.model.sentence import told
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import counted, ranks_words, upper, verb

_NOBODY: dict[int, Row] = {}


def with_another_start(facts: Facts, finding: Finding) -> Finding:
    """The finding that ranks are out of step, with those named whose logs say that they began elsewhere."""
    odd = _odd(facts) if finding.hang else _NOBODY
    named = tuple(sorted(odd))
    if not odd or (finding.culprits and finding.culprits != named):
        return finding
    row = odd[named[0]]
    fields = fields_of(row)
    those = ranks_words(named)
    wrote = f'wrote "{row["text"]}", where {counted(fields["others"], "other")} wrote "{fields["other"]}"'
    elsewhere = f"{verb(named, 'it goes', 'they go')} on from another place than the others."
    said = replace(
        finding,
        sentence=told(finding.sentence, f"{upper(those)} {wrote}: {elsewhere}"),
        evidence=(
            *finding.evidence,
            *(event_id(int(each["log"]), int(each["line"])) for each in list(odd.values())[:3]),
        ),
    )
    return said if finding.culprits else _naming(said, named, wrote)


def _naming(finding: Finding, named: tuple[int, ...], wrote: str) -> Finding:
    """They make the call that comes next for them, where the others make another: where a call is known, that is it."""
    before = perhaps(
        finding.cause, "That line may have nothing to do with it.", decided_by="the calls of all ranks"
    )
    return replace(
        finding,
        cause="different_collective" if finding.divergence is not None else "rank_conditional",
        culprits=named,
        confidence="hypothesis" if finding.holds_if_hung else "supported",
        doing=dict.fromkeys(named, wrote),
        victims=tuple(rank for rank in finding.victims if rank not in named),
        alternatives=finding.alternatives
        if finding.cause == "undetermined"
        else (before, *finding.alternatives),
    )


@heuristic(
    "took up elsewhere",
    "who alone says that it goes on from another step than all others is the one that is out of step",
    otherwise=_NOBODY,
)
def _odd(facts: Facts) -> dict[int, Row]:
    """Rank -> its line; nobody where several lines name different ranks."""
    rows = [row for row in facts.case.compared_lines if row["kind"] == "value_differs"]
    by_line: dict[str, dict[int, Row]] = {}
    for row in rows:
        if TOOK_UP.search(row["text"]):
            by_line.setdefault(str(row["text"]).translate(_NO_DIGITS), {})[int(row["rank"])] = row
    found = list(by_line.values())
    return found[0] if found and all(each.keys() == found[0].keys() for each in found) else _NOBODY


_NO_DIGITS = str.maketrans("", "", "0123456789")
