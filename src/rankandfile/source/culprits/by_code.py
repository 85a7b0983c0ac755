"""Whom the code names, where the evidence shows two paths or two arguments, and nobody who is out of line.

| the code shows | then it is |
| --- | --- |
| a test that singles out ranks by their number: `if rank == 0:` | those ranks, whichever way they took |
| a test that only leaves: `if …: continue`, also `return` and `break` | the ranks that left |
| a call for a gradient under `if x.grad is not None:` | the ranks that have none |
| each way of a test on the rank makes a group of its own | all ranks: every rank has to make every group |
| an argument that is another one upon `rank == 2` | rank 2, if it is one of those that disagree |
| a root that can be a member itself, where all can name one and the same | the others that are done as roots are |
| two that receive from each other, a loop that one of them has left, a test in it | the one on which it can be true |
| a send that a test leaves out of a batch, where ranks wait for the receive in it | whom they receive from |

A test that is turned round by `not` or `!=`, and is not on the rank, says as much for one side as for the other: nobody
is blamed. Nor is anybody who waits on the same side as all who wait.
"""

from __future__ import annotations

import ast

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic, heuristic
from rankandfile.model.ranks import parse_ranks
from rankandfile.source.lines.divergence import Side
from rankandfile.source.lines.found_line import FoundLine, Search

from .in_circle import by_circle
from .self_made_root import by_own_root
from .unsent_message import by_unsent

_LEAVES = (ast.Continue, ast.Return, ast.Break, ast.Pass)
_ON_RANK = ("rank_api", "environment")
#: A test of the rank itself is not far from where the rank is asked for.
_DIRECT = 3
_ON_ITS_RANK = Heuristic(
    "test on the rank", "a test for a rank by its number singles out those that it names"
)
_NO_GRADIENT = Heuristic(
    "no gradient", "under `if x.grad is not None:` those without a gradient leave the call out"
)
_ONLY_LEAVES = Heuristic(
    "a test that only leaves", "those that take `if ...: continue` leave out what comes after it"
)
_GROUPS = {"new_group", "new_subgroups", "init_device_mesh"}


def named_by_code(verdict: Verdict, found: FoundLine, search: Search) -> NamedByCode | None:
    """None where the evidence names somebody already, or the code nobody."""
    if not verdict.hang or verdict.named:
        return None
    if found.reason is None or found.reason.level != "varying":
        return None
    if verdict.cause == "root_mismatch":
        return _of_argument(verdict, found) or by_own_root(verdict, search)
    if verdict.cause == "group_mismatch":
        return _of_groups(found, search)
    if verdict.family == "paths" or verdict.cause == "undetermined":
        return _of_two_paths(verdict, found) or by_unsent(found, search) or by_circle(verdict, found, search)
    return None


def _of_two_paths(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    decision, divergence = found.decision, found.divergence
    if found.kind != "decision" or decision is None or divergence is None or not divergence.exact:
        return None
    condition = decision.condition
    if condition.kind != "if" or not isinstance(condition.node, ast.expr):
        return None
    ours, theirs = condition.here, condition.there
    if decision.branching.normal == "end":
        ours, theirs = theirs, ours
    sides = {ours: divergence.normal, theirs: divergence.culprit}
    if sides.keys() != {"taken", "not taken"}:
        return None
    on_rank = decision.reason.source in _ON_RANK and len(decision.reason.chain) <= _DIRECT
    side, words = _side(condition.node, _statement(found, condition.node), on_rank)
    ranks = _ranks(sides[side]) if side else ()
    others = _ranks(sides["not taken" if side == "taken" else "taken"]) if side else ()
    if not ranks or (verdict.cause == "undetermined" and not _awaited(verdict, ranks, others)):
        return None
    line = f"{found.place.path.rsplit('/', 1)[-1]}:{condition.line}"
    return NamedByCode(
        ranks=ranks,
        doing=f"went another way than its peers at {line}",
        sentence=f"The code decides it: {words}.",
    )


def _side(test: ast.expr, statement: ast.If | None, on_rank: bool) -> tuple[str, str]:
    """Which outcome of the test is the exception, and why; empty where the code does not tell."""
    if on_rank:
        match test:
            case ast.Compare(ops=[ast.Eq() | ast.In()]) if not _ON_ITS_RANK.off:
                return "taken", "the test singles out the ranks that took it"
            case ast.Compare(ops=[ast.NotEq() | ast.NotIn()]) if not _ON_ITS_RANK.off:
                return "not taken", "the test singles out the ranks that did not take it"
    match test:
        case ast.Compare(left=ast.Attribute(attr="grad"), ops=[ast.IsNot()]) if not _NO_GRADIENT.off:
            return "not taken", "who has no gradient leaves the call out"
    if statement is None or statement.orelse or _turned(test):
        return "", ""
    if isinstance(statement.body[-1], _LEAVES) and all(_says(node) for node in statement.body[:-1]):
        return ("", "") if _ONLY_LEAVES.off else ("taken", "who takes it leaves out what comes after it")
    return "", ""


def _turned(test: ast.expr) -> bool:
    return any(
        (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        or (isinstance(node, ast.Compare) and any(isinstance(op, (ast.NotEq, ast.NotIn, ast.IsNot)) for op in node.ops))
        for node in ast.walk(test)
    )  # fmt: skip


def _says(statement: ast.stmt) -> bool:
    """It only says or counts something."""
    return isinstance(statement, (ast.Expr, ast.AugAssign, ast.Assign, ast.Pass))


def _statement(found: FoundLine, test: ast.expr) -> ast.If | None:
    for node in ast.walk(found.place.function.node):
        if isinstance(node, ast.If) and node.test is test:
            return node
    return None


def _awaited(verdict: Verdict, ranks: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """All who wait took the other way."""
    waiting = {rank for wait in verdict.waits for rank in _parsed(wait.ranks)}
    return bool(waiting) and waiting <= set(others) and not waiting & set(ranks)


@heuristic("groups on both ways", "each way of a test on the rank makes a group: nobody makes them all")
def _of_groups(found: FoundLine, search: Search) -> NamedByCode | None:
    if found.reason is None or found.reason.source not in _ON_RANK:
        return None
    for node in ast.walk(found.place.function.node):
        if isinstance(node, ast.If) and node.lineno == found.line and _makes_groups(node.body):
            rest = node.orelse or _after(found.place.function.node, node)
            if not _makes_groups(rest) or not (node.orelse or isinstance(node.body[-1], ast.Return)):
                return None
            world = search.case.world_size
            if not world:
                return None
            return NamedByCode(
                ranks=tuple(range(world)),
                doing="makes only its own group",
                sentence="The code decides it: each way of the test makes a group, and every rank has to make every "
                "group.",
            )
    return None


def _makes_groups(statements: list[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Call) and _name(node.func) in _GROUPS
        for statement in statements
        for node in ast.walk(statement)
    )


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", "") or getattr(function, "id", "")


def _after(function: ast.AST, statement: ast.stmt) -> list[ast.stmt]:
    """What follows the statement in the block that it stands in."""
    for node in ast.walk(function):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list) and statement in block:
                return block[block.index(statement) + 1 :]
    return []


@heuristic("one rank's argument", "a root that is another one upon `rank == 2` is rank 2's mistake")
def _of_argument(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    """Only where the evidence has shown that they disagree, and that this rank is one of them."""
    if verdict.confidence != "established" or found.reason is None or found.reason.source not in _ON_RANK:
        return None
    single = found.reason.compared
    disagree = {rank for cohort in _cohorts(verdict) for rank in cohort}
    if len(single) != 1 or not single <= disagree or disagree <= single:
        return None
    (rank,) = single
    return NamedByCode(
        ranks=(rank,),
        doing="has another root than the other members",
        sentence=f"The code gives rank {rank} another one.",
    )


def _cohorts(verdict: Verdict) -> list[list[int]]:
    return [_parsed(cohort.ranks) for cohort in verdict.divergence.cohorts] if verdict.divergence else []


def _ranks(side: Side) -> tuple[int, ...]:
    return tuple(_parsed(side.ranks)) or (side.rank,)


def _parsed(ranks: str) -> list[int]:
    try:
        return parse_ranks(ranks)
    except ValueError:
        return []
