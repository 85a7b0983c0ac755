"""Ranks that do not get out of their interpreter, though nobody waits for them."""

from __future__ import annotations

from rankandfile.reason.verdict.finding import Finding

from .in_words import doing_words
from .kinds import kind_of
from .make_finding import make_finding
from .where_all_stand import WhereAllStand

_DESTROYS = ("destroy_process_group", "_abort_process_group", "_shutdown_backend")


def left_running(of: WhereAllStand) -> Finding | None:
    """Nobody waits for a rank, and some do not get out of their interpreter: what still runs there keeps them."""
    leaving = {r: s for r, s in of.stands.items() if s.activity == "teardown" and kind_of(s) not in _DESTROYS}
    others = {r for r in of.waiting if r not in leaving} | set(of.elsewhere)
    if not leaving or others or not (of.stays or of.alike):
        return None
    named = tuple(sorted(leaving))
    doing = {rank: stand.words for rank, stand in leaving.items()}
    return make_finding(
        of,
        cause="teardown_only",
        confidence="supported" if of.stays else "hypothesis",
        what=f"{doing_words(doing)}. No rank that was seen waits for another",
        culprits=named,
        doing=doing,
        evidence=[i for stand in leaving.values() for i in stand.evidence],
    )
