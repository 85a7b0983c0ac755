"""What a `case` asks, as a test of what is matched: `match chief, due: case True, _:` asks `chief is True`."""

from __future__ import annotations

import ast

from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.program.modules import Module


def as_test(module: Module, case: ast.AST) -> ast.expr | None:
    """None for a pattern that no test was made for. What the cases before it have taken is not asked."""
    if not isinstance(case, ast.match_case):
        return None
    match = next((a for a in ancestors(module, case) if isinstance(a, ast.Match)), None)
    asked = None if match is None else _asked(match.subject, case.pattern)
    if asked is None:
        return None
    guard = [] if case.guard is None else [case.guard]
    return _joined(ast.And(), [*asked, *guard], case.pattern)


def _asked(subject: ast.expr, pattern: ast.pattern) -> list[ast.expr] | None:
    """What must all be so; none where anything will do."""
    match pattern:
        case ast.MatchValue(value=value):
            return [_at(ast.Compare(subject, [ast.Eq()], [value]), subject)]
        case ast.MatchSingleton(value=value):
            return [_at(ast.Compare(subject, [ast.Is()], [_at(ast.Constant(value), subject)]), subject)]
        case ast.MatchAs(pattern=inner):
            return [] if inner is None else _asked(subject, inner)
        case ast.MatchOr(patterns=patterns):
            ways = [_asked(subject, one) for one in patterns]
            every = [_joined(ast.And(), way, pattern) for way in ways if way]
            return [_joined(ast.Or(), every, pattern)] if len(every) == len(ways) else None
        case ast.MatchSequence(patterns=patterns) if isinstance(subject, (ast.Tuple, ast.List)):
            starred = [*patterns, *subject.elts]
            if len(patterns) != len(subject.elts) or any(
                isinstance(one, (ast.MatchStar, ast.Starred)) for one in starred
            ):
                return None
            parts = [_asked(e, one) for e, one in zip(subject.elts, patterns, strict=True)]
            return None if None in parts else [test for part in parts if part for test in part]
    return None


def _joined(op: ast.boolop, parts: list[ast.expr], place: ast.pattern) -> ast.expr:
    if len(parts) == 1:
        return parts[0]
    return ast.copy_location(ast.BoolOp(op, parts) if parts else ast.Constant(True), place)


def _at(e: ast.expr, place: ast.expr) -> ast.expr:
    return ast.copy_location(e, place)
