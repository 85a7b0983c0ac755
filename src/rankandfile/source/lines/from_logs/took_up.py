"""From a line of a log back to what made the number in it: who "resumed from step 100" read that number somewhere.

In: whom a verdict names, and whose log says that it went on from another place than all others. Out: the line that
decides which place that is: where the value was made or, where it is one of several that are gone over, upon what the
ones before it are passed by.
"""

from __future__ import annotations

import ast
import re

import msgspec

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.events import event_id
from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.log_words import TOOK_UP
from rankandfile.source.dependence.syntax import ancestors
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.log_lines import Writer, written_by
from rankandfile.source.program.modules import Function
from rankandfile.source.program.places import place_in
from rankandfile.source.program.scopes import own_nodes


@heuristic("made what it says", "a number that one log has differently is traced to the line that made it")
def took_up(search: Search, verdict: Verdict) -> FoundLine | None:
    """None where nobody is named by such a line, or its number is handed over from elsewhere."""
    named = {one.rank for one in verdict.named}
    for row in search.case.compared_lines:
        cited = event_id(row["log"], row["line"]) in verdict.evidence
        if (
            row["kind"] != "value_differs"
            or row["rank"] not in named
            or not cited
            or not TOOK_UP.search(row["text"])
        ):
            continue
        writer = written_by(search.program, row["text"], terse=True)
        value = (
            _value(writer, row["text"], msgspec.json.decode(row["fields"])["value"])
            if writer is not None
            else None
        )
        made = (
            _made(writer.function, writer.call, value) if writer is not None and value is not None else None
        )
        doubted = writer is not None and writer.function.module.path in search.places.doubts
        if writer is not None and made is not None and not doubted:
            line = made.lineno
            place = place_in(writer.function, line)
            asked = (
                made.value
                if isinstance(made, ast.Assign)
                else made.iter
                if isinstance(made, ast.For)
                else None
            )
            reason = search.why(writer.function, asked) if asked is not None else None
            return FoundLine(
                place,
                line,
                writer.function.module.code_at(line),
                reason if reason is not None and reason.level != "uniform" else None,
                kind="took_up",
                story=f"What it goes on from it writes at {place.at(writer.call.lineno)}.",
            )
    return None


def _value(writer: Writer, text: str, number: str) -> ast.expr | None:
    """What was filled in where the number stands."""
    found = [
        value for value, said in writer.filled(text) if re.search(rf"(?<!\d){re.escape(number)}(?!\d)", said)
    ]
    return found[-1] if found else None


def _made(function: Function, call: ast.Call, value: ast.expr) -> ast.stmt | ast.ExceptHandler | None:
    """The last statement before the call that gives the value its name."""
    names = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    around = [*ancestors(function.module, call)]
    made: list[ast.Assign | ast.For] = []
    for node in own_nodes(function):
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.For)
            else []
        )
        gives = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        before = node.lineno < call.lineno if isinstance(node, ast.Assign) else node in around
        if isinstance(node, (ast.Assign, ast.For)) and names & gives and before:
            made.append(node)
    last = max(made, key=lambda node: node.lineno, default=None)
    return _passed_by(last, call) or last if isinstance(last, ast.For) else last


def _passed_by(loop: ast.For, call: ast.Call) -> ast.ExceptHandler | ast.If | None:
    """Upon what a round ends before it comes to the call, where there is one such test."""
    found = [
        node
        for node in ast.walk(loop)
        if isinstance(node, (ast.ExceptHandler, ast.If))
        and node.lineno < call.lineno
        and any(isinstance(step, ast.Continue) for step in node.body)
    ]
    return found[0] if len(found) == 1 else None
