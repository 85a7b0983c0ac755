"""A circle of waits among ranks that took different paths before it, where nothing says who diverged."""

from __future__ import annotations

from rankandfile.model.column import Row
from rankandfile.model.sentence import told
from rankandfile.reason import lookup
from rankandfile.reason.claims.in_words import circle
from rankandfile.reason.divergence import in_document
from rankandfile.reason.divergence.code_paths import DivergingLines, diverging_lines
from rankandfile.reason.document import cited, perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.in_words import in_calls, pending_row


def _ways(facts: Facts, rows: list[Row]) -> DivergingLines | None:
    """Where the ways to two of the calls part in one function."""
    every = (diverging_lines(facts.case, rows[0]["stack"], row["stack"]) for row in rows[1:])
    return next((ways for ways in every if ways is not None), None)


@finder(precedence=290)
def circle_of_waits(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    if wait_end.kind != "cycle":
        return None
    calls = [facts.waits.pending[i] for i in wait_end.pending[:4]]
    rows = [row for call in calls if (row := pending_row(facts, call))]
    ways = _ways(facts, rows)
    return Finding(
        cause="undetermined" if ways is None else "rank_conditional",
        confidence="hypothesis" if ways is None else "supported",
        sentence=told(
            circle(wait_end.ranks, [in_calls(facts, call) for call in calls]),
            "They took different paths to it, and nothing says which of them is the right one.",
            in_document.different_ways(ways),
        ),
        divergence=in_document.circle(facts, wait_end),
        location=lookup.location_of(facts, rows[0]) if rows else None,
        evidence=cited(*rows),
        contradicted_by="the source, or a longer history",
        alternatives=tuple(
            perhaps(cause, words, wait_end.ranks, decided_by="the source around the calls")
            for cause, words in (
                ("order_inversion", "The ranks may come to the calls in opposite order."),
                ("skipped_collective", "Some of the ranks may have left out a call."),
            )
        ),
    )
