"""Who went through a handler, or into an arm, by what it wrote there: no other rank wrote that line.

The stacks of two cohorts show that one of them may have come through a handler; on whom it caught something they do
not. A rank whose log has the line that the handler writes did come through it.

In: a line that was found, and what single ranks wrote last. Out: those of them that wrote it from within. Where nobody
did, and one side is in the middle of a message that no recorder keeps, the other may have got through that: on whom the
handler caught something is then not said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.model.heuristics import Heuristic
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.lines.decision import decisions
from rankandfile.source.lines.divergence import CodeDivergence
from rankandfile.source.lines.exception_origin import raises_on
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.made_from import called_in
from rankandfile.source.lines.of_stages.pipeline import seen_in_transfer
from rankandfile.source.lines.of_two_cohorts.two_ways import branchings_of, sides_of
from rankandfile.source.program.log_lines import written_by
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import place_in


class Wrote(Struct, frozen=True):
    rank: int
    text: str
    at: str
    """`worker.py:31`."""
    evidence: str


#: Of a log that is the only one, nothing tells that no other has the line.
_FEWEST_HEARD = 2
_WROTE = Heuristic("wrote it there", "who alone wrote what a handler or an arm writes came through it")


def as_logged(search: Search, found: FoundLine) -> tuple[FoundLine, list[Wrote]]:
    """The line, with those who came through it where it is a handler; and what they wrote."""
    wrote = [] if _WROTE.off else _inside(search, found)
    if found.kind != "caught" or found.divergence is None:
        return found, wrote
    if wrote:
        return replace(found, singled=tuple(one.rank for one in wrote)), wrote
    sides = (found.divergence.normal, found.divergence.culprit)
    return replace(
        found, supposed=any(side.seen and seen_in_transfer(search, side.rank) for side in sides)
    ), []


def kept_by_manager(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """Of blocks whose context manager may have kept what was raised in them: the handler in the manager's own function,
    where only who left out what is in the block wrote what it writes."""
    if _WROTE.off or not own_lines(search):
        return None
    ways, sides = branchings_of(search, divergence), sides_of(search, divergence)
    for decision in decisions(search.places, ways, sides, seeming_equal=True):
        manager = decision.condition.node
        went_on = decision.condition.kind == "with" and decision.outcomes[1] == "swallowed"
        if not went_on or not isinstance(manager, ast.Call):
            continue
        for maker in called_in(search.program, decision.place.function, manager):
            for handler in (node for node in maker.nodes if isinstance(node, ast.ExceptHandler)):
                wrote = {one.rank for one in written_within(search, handler.body)}
                if wrote and wrote <= {*divergence.culprit.members} and not raises_on(handler):
                    place, line = place_in(maker, handler.lineno), handler.lineno
                    text = maker.module.code_at(line)
                    return FoundLine(place, line, text, None, divergence, decision, kind="caught")
    return None


def _inside(search: Search, found: FoundLine) -> list[Wrote]:
    """Of each rank that wrote so, the first line; empty where the line is no handler and no test."""
    inside = _within(found)
    return [] if inside is None else written_within(search, inside)


def written_within(search: Search, inside: list[ast.stmt]) -> list[Wrote]:
    """Of each rank that alone wrote something from within these statements, the first line."""
    by_rank: dict[int, Wrote] = {}
    for row in own_lines(search):
        writer = written_by(search.program, row["text"])
        if writer is not None and _directly_in(writer.function, writer.call, inside):
            line = writer.call.lineno
            at = place_in(writer.function, line).at(line)
            wrote = Wrote(row["rank"], row["text"], at, event_id(row["log"], row["line"]))
            by_rank.setdefault(wrote.rank, wrote)
    return [by_rank[rank] for rank in sorted(by_rank)]


def own_lines(search: Search) -> Sequence[Row]:
    """What ranks wrote alone; nothing where too few are heard to say so."""
    own = search.case.own_last_lines
    heard = search.case.events["rank"].drop_nulls().n_unique() if own else 0
    return own if heard >= _FEWEST_HEARD else ()


def _within(found: FoundLine) -> list[ast.stmt] | None:
    """The statements that only who was caught there, or took the branch, comes to."""
    for node in found.place.function.nodes:
        if found.kind == "caught" and isinstance(node, ast.ExceptHandler) and node.lineno == found.line:
            return node.body
        if found.kind == "decision" and isinstance(node, ast.If) and node.lineno == found.line:
            return node.body
    return None


def _directly_in(function: Function, call: ast.Call, inside: list[ast.stmt]) -> bool:
    """Nothing within decides once more whether it is written."""
    return any(outer in inside for outer in _up_to_a_test(function, call))


def _up_to_a_test(function: Function, call: ast.Call) -> Iterator[ast.AST]:
    for outer in ancestors(function.module, call):
        if not isinstance(outer, (ast.expr, ast.Expr, ast.keyword, ast.With, ast.AsyncWith)):
            return
        yield outer
