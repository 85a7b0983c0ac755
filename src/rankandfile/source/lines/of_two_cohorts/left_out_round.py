"""A loop that came to its end on one side where the other made one more call in it: rounds that go by without the call.

Ranks whose shares are of one length make unlike numbers of calls where some rounds are left out, as the data decides:

    for batch in loader:
        if not usable(batch):  # this line
            continue
        backward(batch)        # rank 1 made three of these, rank 0 makes its fourth

In: two call paths, one of which has left a loop that the other goes round in. Out: the test in that loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.syntax import spans
from rankandfile.source.files.text import without_comment
from rankandfile.source.flow import tested
from rankandfile.source.lines.branchings import Branching
from rankandfile.source.lines.call_paths import Stop
from rankandfile.source.lines.decision import MOST_ROUNDS
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import SourcePlace

from .two_ways import branchings_of

_NESTED = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def left_out_round(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """The test upon which rounds go by without the call; one of which nothing is known only if there is no other."""
    for branching in branchings_of(search, divergence):
        place = search.places.find(branching.frame)
        if place is None or not place.known or branching.guessed or branching.rounds > MOST_ROUNDS:
            continue
        for loop, line, goes_on, ended in _sides(place.function, branching, divergence):
            lines = place.function.module.lines
            tests = [
                (test, search.why(place, tested(lines, test.lineno, test.test)))
                for test in _skipping(loop, line)
            ]
            known = [each for each in tests if each[1].level == "varying"]
            unknown = [each for each in tests if each[1].level == "unknown" and _asks_the_item(loop, each[0])]
            chosen = known or (unknown if len(unknown) == 1 else [])
            if chosen:
                test, reason = chosen[-1]
                story = (
                    f"As it seems, the loop at {_at(place, loop.lineno)} came to its end on {ranks_in_words(ended)} "
                    f"where {ranks_in_words(goes_on)} made one more such call in it."
                )
                text = without_comment(place.function.module.lines[test.lineno - 1].strip())
                return FoundLine(place, test.lineno, text, reason, divergence, kind="round", story=story)
    return None


def _sides(
    function: Function, branching: Branching, divergence: CodeDivergence
) -> Iterator[tuple[ast.For, int, Side, Side]]:
    """The loop that one side has left, the line of the other's call in it, and both: who goes on, and who left."""
    after = branching.after
    around = [node for node in ast.walk(function.node) if isinstance(node, ast.For) and after is not None]
    around = [loop for loop in around if after is not None and spans(loop, after.line)]
    if not around:
        return
    loop = max(around, key=lambda node: node.lineno)
    ways = (branching.normal, divergence.normal), (branching.culprit, divergence.culprit)
    for (here, mine), (there, others) in (ways, ways[::-1]):
        left = not isinstance(there, Stop) or not spans(loop, there.line)
        if isinstance(here, Stop) and spans(loop, here.line) and left:
            yield loop, here.line, mine, others


def _skipping(loop: ast.For, line: int) -> Iterator[ast.If]:
    """The tests of the loop's own body by which a round may not come to the line."""
    queue: list[ast.AST] = list(loop.body)
    while queue:
        node = queue.pop(0)
        if isinstance(node, ast.If):
            branches = [part for part in (node.body, node.orelse) if part]
            inside = [any(spans(statement, line) for statement in part) for part in branches]
            skips = node.lineno < line and any(isinstance(part[-1], ast.Continue) for part in branches)
            if (skips and not any(inside)) or sum(inside) == 1:
                yield node
        queue += [child for child in ast.iter_child_nodes(node) if not isinstance(child, _NESTED)]


def _asks_the_item(loop: ast.For, test: ast.If) -> bool:
    items = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
    return any(isinstance(node, ast.Name) and node.id in items for node in ast.walk(test.test))


def _at(place: SourcePlace, line: int) -> str:
    return f"{place.path.rsplit('/', 1)[-1]}:{line}"
