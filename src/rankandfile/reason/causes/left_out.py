"""A transfer that was left out: the peer's next one took its place, and is of another size or type than is awaited.

Sends and receives pair by their order. Whoever leaves one out is out of step from there on, and nothing says so until
two halves do not fit. Who has it in his program, ranks that ran the same one until then show: they made it.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Cohort, Divergence
from rankandfile.model.heuristics import heuristic
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import waiting_sentence
from rankandfile.reason.words import ranks_words, upper

from .halves import Amount, Unlike, amount, unlike_halves

CAUSE = "skipped_collective"
#: Calls that fall into place once the one that was left out is taken into account: fewer could be chance.
_CONFIRMED = 2


@heuristic("transfer left out", "recorded transfers that do not add up tell who left one out")
def find(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    every = (_finding(facts, wait_end, unlike) for unlike in unlike_halves(facts, wait_end))
    return next((found for found in every if found is not None), None)


def _finding(facts: Facts, wait_end: WaitEnd, unlike: Unlike) -> Finding | None:
    head = unlike.head
    made = {
        rank: mates
        for rank, sends, wanted in (
            (head.rank, head.sends, unlike.other_amount),
            (head.peer, not head.sends, unlike.own_amount),
        )
        if (mates := _who_made_it(facts, rank, sends, wanted))
    }
    if len(made) != 1:
        return None
    ((rank, mates),) = made.items()
    return _left_out(facts, wait_end, unlike.own, unlike.other, rank, mates)


def _left_out(
    facts: Facts,
    wait_end: WaitEnd,
    own: lookup.Row,
    other: lookup.Row,
    rank: int,
    mates: dict[int, lookup.Row],
) -> Finding:
    """`rank` is one of the two, and `mates` are the calls that its like made instead."""
    sent, received = (own, other) if own["rank"] == own["src"] else (other, own)
    partner = other["rank"] if rank == own["rank"] else own["rank"]
    half, its = ("send", "receive") if rank == sent["rank"] else ("receive", "send")
    shown = mates[min(mates)]
    return Finding(
        cause=CAUSE,
        confidence="supported",
        sentence=(
            f"The {lookup.call_words(facts, sent)} of rank {sent['rank']} meets the "
            f"{lookup.call_words(facts, received)} of rank {received['rank']}, and they are of different "
            "sizes or types. "
            f"{upper(ranks_words(sorted(mates)))} made the {lookup.call_words(facts, shown)} after the same calls as "
            f"rank {rank}, which did not, and went on as they did after it. So rank {rank} left out a {half}, or rank "
            f"{partner} makes a {its} too many. {waiting_sentence(facts, wait_end, ())}"
        ).strip(),
        divergence=Divergence(
            group=lookup.group_words(facts, own["group"]),
            seq=None,
            kind="skipped",
            cohorts=[
                Cohort(ranks=str(row["rank"]), call=lookup.as_call(facts, row)) for row in (received, sent)
            ],
            members=lookup.members_text(facts, own["group"]),
        ),
        location=lookup.location_of(facts, shown),
        evidence=tuple(lookup.evidence_of(row) for row in (own, other, *mates.values()))[:8],
        contradicted_by=f"a {half} of rank {rank} that was not recorded",
        alternatives=tuple(
            Alternative(
                cause=cause,
                confidence="hypothesis",
                sentence=sentence,
                culprits=str(who),
                decided_by="the source at these lines: who sends to whom, and when",
            )
            for cause, who, sentence in (
                (CAUSE, rank, f"Rank {rank} left out the {half}."),
                ("extra_collective", partner, f"Rank {partner} makes a {its} that nobody answers."),
            )
        ),
        instead_of="size_mismatch",
        explains=len(wait_end.victims),
    )


def _who_made_it(facts: Facts, rank: int, sends: bool, wanted: Amount) -> dict[int, lookup.Row]:
    """Ranks of its program that made the missing half there; none where as many went its way."""
    mates = facts.programs.mates(rank, facts.case.ranks_seen)
    found: dict[int, lookup.Row] = {}
    for mate, diverged in mates.items():
        if diverged is None or diverged.expected is None or diverged.difference.kind != "skipped":
            continue
        row = lookup.call_of_record(facts, *diverged.expected)
        if row is None or diverged.difference.confirmed < _CONFIRMED or not row["is_p2p"]:
            continue
        if (row["src"] == mate) is sends and amount(facts, row) == wanted:
            found[mate] = row
    alike = sum(diverged is None for diverged in mates.values())
    return found if len(found) > alike else {}
