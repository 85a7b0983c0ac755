"""Where the last step of a rank diverges from its own earlier ones, as its calls come round in a loop."""

from __future__ import annotations

import numpy as np

from rankandfile.reason.calls.rounds import find_loop, in_loop
from rankandfile.reason.divergence.alignment import Edit, Tokens, align
from rankandfile.reason.divergence.track_difference import TrackDifference

from .one_program import Program, ProgramDivergence, call_at


def against_past(program: Program) -> ProgramDivergence | None:
    """How the last step of the rank diverges from its earlier ones."""
    found = _past(program, program.tokens)
    if found is not None and found.difference.kind == "extra" and not found.difference.confirmed:
        again = _past(program, program.lines)
        found = again if again is not None and again.came == found.came else found
    return found


def _past(program: Program, tokens: Tokens) -> ProgramDivergence | None:
    first = in_loop(tokens)
    if not first or first == len(tokens):
        return None
    loop = find_loop(tokens[:first])
    assert loop is not None
    step = loop.period
    expected = np.resize(tokens[first - step : first], 2 * step + len(tokens) - first)
    edits = align(expected, tokens[first:])
    if not edits:
        return None
    edit = edits[0]
    at, due = first + edit.b_start, first - step + edit.a_start % step
    after = edits[1].b_start if len(edits) > 1 else len(tokens) - first
    dropped, added = edit.a_stop - edit.a_start, edit.b_stop - edit.b_start
    kind = "substituted" if dropped and added else "skipped" if dropped else "extra"
    if len(edits) > 1 and _reappears(expected, tokens[first:], edit, edits[1]):
        kind = "swapped"
    length = max(dropped, added)
    if kind == "extra" and edit.b_stop == len(tokens) - first:
        # Nothing is seen to follow it. What is due later in the step came too early: what lies between is left out.
        early = _due_later(expected[edit.a_start : edit.a_start + step], tokens[at:])
        kind, length = ("skipped", early) if early else (kind, length)
    difference = TrackDifference(kind, at, True, length, after - edit.b_stop)  # type: ignore[arg-type]
    return ProgramDivergence(program.rank, difference, call_at(program, due), call_at(program, at), "past")


def _due_later(expected: Tokens, came: Tokens) -> int:
    """After how many calls these would be due; 0 for those that are not in what is expected."""
    places = range(1, len(expected) - len(came) + 1)
    return next((n for n in places if np.array_equal(expected[n : n + len(came)], came)), 0)


def _reappears(expected: Tokens, came: Tokens, first: Edit, second: Edit) -> bool:
    """What the first edit takes away, the second puts back, or the other way round."""
    gone, put = expected[first.a_start : first.a_stop], came[second.b_start : second.b_stop]
    early, late = came[first.b_start : first.b_stop], expected[second.a_start : second.a_stop]
    return (len(gone) == len(put) > 0 and bool(np.all(gone == put))) or (
        len(early) == len(late) > 0 and bool(np.all(early == late))
    )
