"""The control-flow graph of a function: steps, decisions, and what each outcome leads to."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec import Struct, field

from rankandfile.source.program.called import called_name

from .condition import Kind

RAISED = "raised"
"""The outcome of a step that ends in an exception."""


class Decision(Struct, eq=False):
    """What a decision node belongs to. A test of several parts (`a and b`) is one decision with several nodes."""

    kind: Kind
    owner: ast.AST
    """The statement or expression that a person would call the condition."""
    test: ast.AST
    line: int
    words: tuple[str, str]
    """What control going to `then`, and to `other`, means."""
    then: Node | None = None
    other: Node | None = None
    leaves: int = 1


class Node(Struct, eq=False):
    """One step of a function. It is a decision if its edges carry different outcomes."""

    what: ast.AST | None = None
    """The expression or statement whose evaluation ends here."""
    lines: tuple[int, ...] = ()
    edges: list[tuple[str, Node]] = field(default_factory=list)
    decision: Decision | None = None
    binds: bool = False
    """The step gives names their values: an assignment, an import, a loop's target ..."""
    arm: ast.expr | None = None
    """What was evaluated here, and is not on every way: one side of `a if x else b`, the rest of `x and a`."""

    def next(self) -> Iterable[Node]:
        return (node for _outcome, node in self.edges)


class Graph(Struct, eq=False):
    """`nodes` holds what can be reached from the entry; exits are the last nodes of every way out."""

    entry: Node
    returns: Node
    raises: Node
    nodes: list[Node]

    def on(self, line: int) -> set[Node]:
        """The steps at a line; where there are none, the smallest steps that span it."""
        exact = {node for node in self.nodes if line in node.lines}
        if exact:
            return exact
        spanning = [(node, _span(node.what)) for node in self.nodes if _covers(node.what, line)]
        least = min((size for _node, size in spanning), default=0)
        return {node for node, size in spanning if size == least}

    def calls(self, line: int, name: str) -> set[Node]:
        """The calls at a line of something with this name."""
        written = {n for n in self.on(line) if isinstance(n.what, ast.Call) and called_name(n.what) == name}
        return written or self._implied(line, name)

    def _implied(self, line: int, name: str) -> set[Node]:
        """The ends of the smallest arm, or test, in which a property of that name is read at the line, or an operator
        asks for it: `{health:long}` calls `__format__`."""
        parts = [(n, n.arm if n.decision is None else n.what) for n in self.nodes]
        at_line = [(n, e) for n, e in parts if isinstance(e, ast.expr) and _reaches(e, line)]
        found = [(n, _size(e)) for n, e in at_line if _implies(e, line, name)]
        least = min((size for _, size in found), default=None)
        return {n for n, size in found if size == least}


_IMPLIED = {
    "__format__": ast.FormattedValue,
    "__str__": ast.FormattedValue,
    "__repr__": ast.FormattedValue,
    "__getitem__": ast.Subscript,
}


def _implies(arm: ast.expr, line: int, name: str) -> bool:
    asked = _IMPLIED.get(name)
    return any(
        isinstance(e, asked) if asked is not None else isinstance(e, ast.Attribute) and e.attr == name
        for e in ast.walk(arm)
        if isinstance(e, ast.expr) and _reaches(e, line)
    )


def _reaches(e: ast.expr, line: int) -> bool:
    return e.lineno <= line <= (e.end_lineno or e.lineno)


def _size(e: ast.expr) -> int:
    return sum(1 for _ in ast.walk(e))


def reachable(entry: Node) -> list[Node]:
    seen, stack = {entry}, [entry]
    order: list[Node] = []
    while stack:
        node = stack.pop()
        order.append(node)
        for follower in node.next():
            if follower not in seen:
                seen.add(follower)
                stack.append(follower)
    return order


def predecessors(graph: Graph) -> dict[Node, list[Node]]:
    before: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    for node in graph.nodes:
        for follower in node.next():
            before[follower].append(node)
    return before


_SIMPLE = (ast.expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Delete, ast.Import)


def _covers(node: ast.AST | None, line: int) -> bool:
    """Whether the line is one of those that a step is written on; what stands in a loop is not the loop."""
    return isinstance(node, _SIMPLE) and node.lineno <= line <= (node.end_lineno or node.lineno)


def _span(node: ast.AST | None) -> int:
    return (node.end_lineno or node.lineno) - node.lineno if isinstance(node, (ast.expr, ast.stmt)) else 0
