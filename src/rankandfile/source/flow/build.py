"""A function as a control-flow graph, built from the last statement to the first.

Building backwards makes every way out of a `try` simple: the `finally` block is built once for each place that
control goes on to behind it, so that no two ways are mixed up.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from msgspec.structs import replace

from rankandfile.source.program.kept import kept
from rankandfile.source.program.modules import Function

from .condition import Kind
from .exceptions import catches, swallows
from .expressions import Exits, Expressions, Thrown, TooLarge, stored_through
from .graph import Decision, Graph, Node, reachable

_LOOP = ("another round", "loop left")


@kept
def graph_of(function: Function) -> Graph:
    """The graph; one without steps if the function is too large or too deep."""
    try:
        return _Builder(function).graph()
    except (TooLarge, RecursionError):
        end = Node()
        return Graph(end, end, Node(), [end])


class _Builder(Expressions):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def graph(self) -> Graph:
        returns, raises = self.node(), self.node()
        exits = Exits(lambda: returns, lambda _thrown: raises, lambda: returns, lambda: returns)
        body = self.function.node
        if isinstance(body, ast.Lambda):
            entry = self.value(body.body, returns, exits)
        else:
            entry = self.block(body.body, returns, exits)
        nodes = reachable(entry)
        nodes.extend(end for end in (returns, raises) if end not in set(nodes))
        return Graph(entry, returns, raises, nodes)

    def block(self, body: list[ast.stmt], after: Node, exits: Exits) -> Node:
        for number in reversed(range(len(body))):
            after = self.statement(body[number], after, exits, body[:number])
        return after

    def statement(self, s: ast.stmt, after: Node, exits: Exits, before: list[ast.stmt]) -> Node:
        if isinstance(s, ast.While):
            inside = self._while(s, after, exits, certain=_is_true(s.test, before))
        else:
            inside = self._inside(s, after, exits)
        return self.node(None, (s.lineno,), inside)

    def _inside(self, s: ast.stmt, after: Node, exits: Exits) -> Node:
        if isinstance(s, ast.If):
            return self._if(s, after, exits)
        if isinstance(s, (ast.For, ast.AsyncFor)):
            return self._for(s, after, exits)
        if isinstance(s, ast.Try) or s.__class__.__name__ == "TryStar":
            return self._try(s, after, exits)  # type: ignore[arg-type]  # TryStar has the fields of Try
        if isinstance(s, (ast.With, ast.AsyncWith)):
            return self._with(s, 0, after, exits)
        if isinstance(s, ast.Match):
            return self._match(s, after, exits)
        if isinstance(s, ast.Return):
            leave = exits.leave()
            return self._optional(s.value, self.node(s, (), leave), exits)
        if isinstance(s, ast.Raise):
            out = self.raising(s, exits.raises(s.exc))
            return self._optional(s.exc, self._optional(s.cause, out, exits), exits)
        if isinstance(s, ast.Break):
            return exits.stop()
        if isinstance(s, ast.Continue):
            return exits.again()
        if isinstance(s, ast.Assert):
            return self._assert(s, after, exits)
        return self._simple(s, after, exits)

    def _optional(self, e: ast.expr | None, after: Node, exits: Exits) -> Node:
        return after if e is None else self.value(e, after, exits)

    def _simple(self, s: ast.stmt, after: Node, exits: Exits) -> Node:
        """Statements that control only passes through."""
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            bind = self.node(s, (), after, binds=True)
            defaults = [*s.args.defaults, *(d for d in s.args.kw_defaults if d is not None)]
            return self.all([*s.decorator_list, *defaults], bind, exits)
        if isinstance(s, ast.ClassDef):
            inside = self.block(s.body, self.node(s, (), after, binds=True), exits)
            keywords = [keyword.value for keyword in s.keywords]
            return self.all([*s.decorator_list, *s.bases, *keywords], inside, exits)
        if isinstance(s, (ast.Import, ast.ImportFrom)):
            return self.step(s, (), after, exits, binds=True)
        if isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            bind = self.node(s, (), after, binds=True)
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            stored = self.all([part for target in targets for part in stored_through(target)], bind, exits)
            return self._optional(s.value, stored, exits)
        if isinstance(s, ast.Delete):
            return self.all(s.targets, self.node(s, (), after, binds=True), exits)
        return self.value(s.value, after, exits) if isinstance(s, ast.Expr) else after

    def _if(self, s: ast.If, after: Node, exits: Exits) -> Node:
        """A chain of `elif` is as deep in the tree as it is long: it is walked, not recursed into."""
        chain = [s]
        while len(chain[-1].orelse) == 1 and isinstance(chain[-1].orelse[0], ast.If):
            chain.append(chain[-1].orelse[0])
        other = self.block(chain[-1].orelse, after, exits)
        for part in reversed(chain):
            then = self.block(part.body, after, exits)
            decision = Decision("if", part, part.test, part.lineno, ("taken", "not taken"))
            other = self.decide(part.test, then, other, exits, decision)
            if part is not s:
                other = self.node(None, (part.lineno,), other)
        return other

    def _while(self, s: ast.While, after: Node, exits: Exits, certain: bool) -> Node:
        """`certain`: the first round is taken whatever is asked."""
        top = self.node(None, (s.lineno,))
        body = self.block(s.body, top, exits.with_loop(after, top))
        decision = Decision("while", s, s.test, s.lineno, _LOOP)
        start = self.decide(s.test, body, self.block(s.orelse, after, exits), exits, decision)
        top.edges = [("", start)]
        return body if certain else top

    def _for(self, s: ast.For | ast.AsyncFor, after: Node, exits: Exits) -> Node:
        top = self.node(s, (s.lineno,))
        body = self.block(s.body, top, exits.with_loop(after, top))
        bind = self.node(s, (), body, binds=True)
        exhausted = self.block(s.orelse, after, exits)
        top.decision = Decision("for", s, s.iter, s.lineno, ("another round", "exhausted"), bind, exhausted)
        top.edges = [("true", bind), ("false", exhausted), ("raised", exits.raises(None))]
        return self.value(s.iter, top, exits)

    def _assert(self, s: ast.Assert, after: Node, exits: Exits) -> Node:
        raised = exits.raises(ast.Name("AssertionError", ast.Load()))
        failed = self._optional(s.msg, self.raising(s, raised), exits)
        decision = Decision("assert", s, s.test, s.lineno, ("passed", "failed"))
        return self.decide(s.test, after, failed, exits, decision)

    def _match(self, s: ast.Match, after: Node, exits: Exits) -> Node:
        start = after
        for case in reversed(s.cases):
            line = case.pattern.lineno
            body = self.block(case.body, after, exits)
            if case.guard is not None:
                guard = Decision("match", case, case.guard, line, ("taken", "not taken"))
                body = self.decide(case.guard, body, start, exits, guard)
            bind = self.node(case, (line,), body, binds=True)
            if _always(case.pattern):
                start = bind
            else:
                node = self.node(None, (line,))
                node.decision = Decision("match", case, case, line, ("matched", "not matched"), bind, start)
                node.edges = [("true", bind), ("false", start)]
                start = node
        return self.value(s.subject, start, exits)

    def _with(self, s: ast.With | ast.AsyncWith, index: int, after: Node, exits: Exits) -> Node:
        if index == len(s.items):
            return self.block(s.body, after, exits)
        manager = s.items[index].context_expr

        def leaving(to: Node, what: ast.AST | None = None) -> Node:
            return self.node(what, (s.lineno,), to)

        def raises(thrown: Thrown) -> Node:
            answer = swallows(self.function, manager, thrown)
            if answer == "no":
                return leaving(exits.raises(thrown))
            node, swallowed = self.node(manager), leaving(after)
            out = swallowed if answer == "yes" else leaving(exits.raises(thrown))
            words = ("swallowed", "raised again")
            node.decision = Decision("with", s, manager, s.lineno, words, swallowed, out)
            node.edges = [("true", swallowed), ("false", out)]
            return node

        inner = _once(exits, leaving, raises)
        body = self._with(s, index + 1, leaving(after), replace(inner, guarded=True))
        bind = self.node(s.items[index], (), body, binds=True)
        return self.value(manager, self.step(s, (s.lineno,), bind, exits), exits)

    def _try(self, s: ast.Try, after: Node, exits: Exits) -> Node:
        outer = exits
        if s.finalbody:
            behind = _memo(lambda to: self.block(s.finalbody, to, outer))
            exits = _once(exits, behind, lambda thrown: behind(outer.raises(thrown)))
            after = behind(after)
            exits = replace(exits, guarded=True)
        entries = [self._handler(handler, after, exits) for handler in s.handlers]
        raises = _by_type(lambda thrown: self._dispatch(s, entries, thrown, exits))
        body = replace(exits, raises=raises, guarded=True) if entries else exits
        return self.block(s.body, self.block(s.orelse, after, exits), body)

    def _handler(self, handler: ast.ExceptHandler, after: Node, exits: Exits) -> Node:
        body = self.block(handler.body, after, exits)
        return self.node(handler, (handler.lineno,), body, binds=True)

    def _dispatch(self, s: ast.Try, entries: list[Node], thrown: Thrown, exits: Exits) -> Node:
        """The handlers in turn; an exception of a known type skips those that cannot take it."""
        start: Node | None = None
        kind: Kind = "except"
        for handler, entry in reversed(list(zip(s.handlers, entries, strict=True))):
            answer = catches(self.function, handler.type, thrown)
            if answer == "yes":
                start = entry
            elif answer == "perhaps":
                node = self.node(handler)
                other = start or exits.raises(thrown)
                node.decision = Decision(
                    kind, handler, handler, handler.lineno, ("raised", "not raised"), entry, other
                )
                node.edges = [("true", entry), ("false", other)]
                start = node
        return start or exits.raises(thrown)


def _is_true(test: ast.expr, before: list[ast.stmt]) -> bool:
    """`done = False`, and then `while not done:`; a test that is a constant is none."""
    wanted = True
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, wanted = test.operand, not wanted
    if not isinstance(test, ast.Name) or not before:
        return False
    last = before[-1]
    value = last.value if isinstance(last, ast.Assign) else None
    named = isinstance(last, ast.Assign) and [getattr(t, "id", "") for t in last.targets] == [test.id]
    return named and isinstance(value, ast.Constant) and bool(value.value) is wanted


def _once(exits: Exits, behind: Callable[[Node], Node], raises: Callable[[Thrown], Node]) -> Exits:
    """The same ways out, each through what `behind` puts on the way, built when it is first taken."""

    def through(way: Callable[[], Node]) -> Callable[[], Node]:
        made: list[Node] = []

        def go() -> Node:
            if not made:
                made.append(behind(way()))
            return made[0]

        return go

    return replace(
        exits,
        leave=through(exits.leave),
        stop=through(exits.stop),
        again=through(exits.again),
        raises=_by_type(raises),
    )


def _memo(build: Callable[[Node], Node]) -> Callable[[Node], Node]:
    made: dict[Node, Node] = {}

    def get(to: Node) -> Node:
        if to not in made:
            made[to] = build(to)
        return made[to]

    return get


def _by_type(build: Callable[[Thrown], Node]) -> Callable[[Thrown], Node]:
    """One way for every type of exception, so that a step that may raise costs no new nodes."""
    made: dict[str, Node] = {}

    def get(thrown: Thrown) -> Node:
        key = "" if thrown is None else ast.dump(thrown)
        if key not in made:
            made[key] = build(thrown)
        return made[key]

    return get


def _always(pattern: ast.pattern) -> bool:
    """A pattern that every subject matches."""
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or _always(pattern.pattern)
    return isinstance(pattern, ast.MatchOr) and any(_always(part) for part in pattern.patterns)
