"""The main process first: what one process prepares for all, files that are made once, as Accelerate has it said."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from rankandfile.source.remedies.framework_votes import goes_first
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend, conjuncts, leaves
from rankandfile.source.remedies.rank_tests import is_rank_test
from rankandfile.source.remedies.reach import collective
from rankandfile.source.remedies.words import quoted

_WAITS = {"barrier", "wait_for_everyone"}
_FOUND = {"exists", "isfile", "is_file", "isdir", "is_dir"}


def make(place: PlaceToMend, plain: bool) -> Draft | None:
    node = place.node
    if not isinstance(node, ast.If) or node.orelse:
        return None
    return (
        _of_files(place, plain, node)
        or _between_two_waits(place, plain, node)
        or _asked_inside(place, plain, node)
    )


def _of_files(place: PlaceToMend, plain: bool, node: ast.If) -> Draft | None:
    """`if not path.exists():` makes the file, and waits: who finds it made, or half made, does not come to the wait."""
    (*work, last) = node.body
    if not (work and _asks_for_file(node.test) and _waits(last) and _alone(place, work)):
        return None
    first = goes_first(place, local=False)
    if not first or last.lineno <= (work[-1].end_lineno or 0):
        return None
    kept = place.module.lines_of(node).split("\n")[: last.lineno - node.lineno]
    edits = spelling(place, plain).edits
    edits.replace(node, f"with {first}:\n{textwrap.indent(chr(10).join(kept), ' ' * 4)}")
    return Draft(
        edits,
        "Let the main process go first",
        f"Each process asks {quoted(place.module, node.test)} when it comes there, and only those for which it holds "
        f"come to {quoted(place.module, last)}. The main process now asks first, and the others when it is done: "
        "they find what it has made, and nobody waits in the branch.",
        "On several nodes that do not share these files, let one process of each go first: local_main_process_first.",
    )


def _between_two_waits(place: PlaceToMend, plain: bool, node: ast.If) -> Draft | None:
    """`if not main: wait`, the work, `if main: wait`, where one of the two waits is not come to."""
    block, at = place.siblings(node)
    pairs = ((block[at], after) for after in block[at + 1 :]), ((before, block[at]) for before in block[:at])
    for opens, closes in (pair for several in pairs for pair in several):
        if not (isinstance(opens, ast.If) and isinstance(closes, ast.If)):
            continue
        work = block[block.index(opens) + 1 : block.index(closes)]
        waits = all(len(one.body) == 1 and not one.orelse and _waits(one.body[0]) for one in (opens, closes))
        if waits and work and _alone(place, work) and _other_side(place, opens.test, closes.test):
            return _in_turn(place, plain, opens, closes, work)
    return None


def _asked_inside(place: PlaceToMend, plain: bool, node: ast.If) -> Draft | None:
    """`if made: return it` before the block in which the main process goes first: who has it passes no wait."""
    block, at = place.siblings(node)
    after = block[at + 1] if at + 1 < len(block) else None
    if not isinstance(after, ast.With) or len(after.items) != 1 or leaves(node.body) != "return":
        return None
    block_of = after.items[0].context_expr
    if not isinstance(block_of, ast.Call) or not ast.unparse(block_of.func).endswith("_process_first"):
        return None
    if any(collective(event) for event in place.events(node.body)) or after.body[0].lineno == after.lineno:
        return None
    lines = place.module.lines_of(after).rstrip("\n").split("\n")
    first = after.body[0].lineno - after.lineno
    inner = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    guard = textwrap.indent(place.module.lines_of(node).rstrip("\n"), inner)
    edits = spelling(place, plain).edits
    edits.replace(after, "\n".join((*lines[:first], guard, *lines[first:])))
    edits.remove(node)
    return Draft(
        edits,
        "Ask inside the block",
        f"A rank for which {quoted(place.module, node.test)} is true never comes to {quoted(place.module, block_of)}, "
        "in which the others wait for it. All ranks now enter the block, and each asks there: the main process first, "
        "and the others when it is done.",
    )


def _in_turn(
    place: PlaceToMend, plain: bool, opens: ast.If, closes: ast.If, work: Sequence[ast.stmt]
) -> Draft | None:
    first = goes_first(place, local="local" in ast.unparse(opens.test))
    if not first:
        return None
    inside = "\n".join(place.module.lines_of(statement).rstrip("\n") for statement in work)
    edits = spelling(place, plain).edits
    edits.replace(opens, f"with {first}:\n{textwrap.indent(inside, ' ' * 4)}")
    for statement in (*work, closes):
        edits.remove(statement)
    return Draft(
        edits,
        "Let the main process go first",
        f"The others wait in {quoted(place.module, opens.body[0])} until the main process has come to the wait at line "
        f"{closes.body[0].lineno}, which it does only where {quoted(place.module, closes.test)} holds. Both waits "
        "now belong to one block, in which it goes first whatever it finds there.",
    )


def _asks_for_file(test: ast.expr) -> bool:
    """`not os.path.exists(path)`, and nothing else."""
    if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
        return False
    call = test.operand
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _FOUND


def _waits(statement: ast.stmt) -> bool:
    """It is a wait of all processes, and nothing else."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in _WAITS
        and not (call.args or call.keywords)
    )


def _alone(place: PlaceToMend, work: Sequence[ast.stmt]) -> bool:
    """Nobody else is needed for it, and it goes on to what follows."""
    leaving = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await)
    return not any(isinstance(part, leaving) for one in work for part in ast.walk(one)) and not any(
        collective(event) for event in place.events(work)
    )


def _other_side(place: PlaceToMend, opens: ast.expr, closes: ast.expr) -> bool:
    """Whom the first test holds up are those whom the second one, or a part of it, does not let through."""
    return is_rank_test(place.code, place.module, opens) and any(
        ast.dump(_turned(opens)) == ast.dump(part) for part in conjuncts(closes)
    )


def _turned(test: ast.expr) -> ast.expr:
    """`x` of `not x`, `x == 0` of `x != 0`, `x > 0` and `x not in (-1, 0)`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        beside = test.comparators[0]
        zero = isinstance(beside, ast.Constant) and beside.value == 0
        if isinstance(test.ops[0], ast.NotEq) or (isinstance(test.ops[0], ast.Gt) and zero):
            return ast.Compare(test.left, [ast.Eq()], [beside])
        if isinstance(test.ops[0], ast.NotIn) and ast.unparse(beside) in ("(-1, 0)", "[-1, 0]"):
            return ast.Compare(test.left, [ast.Eq()], [ast.Constant(0)])
    return test


ORDER = 95
PATTERN = Pattern("main_process_first", PATHS, make, meets=True)
"""Processes pass the waits of such a block only if all of them come to it."""
