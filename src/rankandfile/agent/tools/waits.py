"""Who waits for whom: one line per call that somebody cannot get past."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.bench import Bench
from rankandfile.agent.choose import ranks_of
from rankandfile.agent.result import Line, line, who
from rankandfile.agent.tool import Arguments, Tool
from rankandfile.reason import lookup as look
from rankandfile.reason.claims.in_words import who_waits
from rankandfile.reason.waits.graph import Pending
from rankandfile.reason.waits.in_words import in_calls, pending_row
from rankandfile.reason.words import upper


class Waits(Arguments, frozen=True):
    ranks: str | None = None
    """Only calls in which these ranks wait, or are waited for: 3 or 0-6,8."""


def waits(bench: Bench, asked: Waits) -> Iterator[Line]:
    """Who waits for whom: each call that ranks cannot get past, who waits in it, and who has not joined it."""
    wanted = None if asked.ranks is None else set(ranks_of(asked.ranks))
    pending = bench.facts.waits.pending
    chosen = [
        one
        for one in pending
        if wanted is None or wanted & {*one.waiting, *one.lacking, *one.unknown, *one.behind}
    ]
    if not chosen:
        yield line("No rank waits in a call, as far as the dumps tell.")
    for one in sorted(chosen, key=lambda one: -len(one.waiting)):
        yield _line(bench, one)


def _line(bench: Bench, one: Pending) -> Line:
    facts = bench.facts
    row = pending_row(facts, one)
    ids = [look.evidence_of(row)] if row else []
    for other in (*one.lacking, *one.behind)[:2]:
        ids += look.standing_evidence(facts, other, one.group)
    words = upper(who_waits(in_calls(facts, one)))
    for ranks, what in (
        (one.lacking, "not issued by {}"),
        (one.behind, "not begun by the devices of {}"),
        (one.busy, "joined by {}, held in an earlier call"),
        (one.unknown, "of {} it is not known whether they joined"),
    ):
        if ranks:
            words += f"; {what.format(who(ranks))}"
    if one.mismatched:
        words += "; its members did not ask for the same thing"
    return line(words + ".", *ids)


ORDER = 40
TOOL = Tool(waits, Waits)
