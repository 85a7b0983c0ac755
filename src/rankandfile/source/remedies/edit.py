"""Edits of a file that leave everything else as it is written: places that `ast` found, and text put there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from rankandfile.source.program.modules import parsed

from .code import Module
from .indentation import indented, unit_of
from .splices import Splice, spliced


class CannotEdit(ValueError):
    """The place is written in a way that no edit was made for; the text says which."""


class _Change(Struct):
    """What becomes of one statement, and what comes right before and behind it."""

    gone: bool = False
    ahead: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)


class Edits:
    """Changes of one module, made together by `apply`."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.imports: list[str] = []
        self.helpers: list[str] = []
        self._statements: dict[ast.stmt, _Change] = {}
        self._expressions: dict[ast.expr, str] = {}

    def expression(self, node: ast.expr, code: str) -> None:
        """Put this code in the place of an expression."""
        self._expressions[node] = code

    def remove(self, node: ast.stmt) -> None:
        self._statements[node] = _Change(gone=True)

    def replace(self, node: ast.stmt, *codes: str) -> None:
        """Put these statements in the place of this one."""
        self._statements[node] = _Change(gone=True, ahead=list(codes))

    def before(self, node: ast.stmt, *codes: str) -> None:
        """Put these statements before this one."""
        change = self._statements.setdefault(node, _Change())
        change.ahead = [*codes, *change.ahead]

    def after(self, node: ast.stmt, *codes: str) -> None:
        """Put these statements after this one."""
        self._statements.setdefault(node, _Change()).behind += codes

    def apply(self) -> str:
        """The module's new text. Raises `CannotEdit` where a place is written as no edit is made for."""
        splices = [*self._top(), *self._changed_statements(), *self._changed_expressions()]
        text = spliced(self.module.text, splices)
        try:
            ast.parse(text)
        except (SyntaxError, ValueError, RecursionError) as error:
            raise CannotEdit("the edited file would not parse") from error
        return text

    def _changed_statements(self) -> Iterator[Splice]:
        emptied = self._emptied()
        for node, change in self._statements.items():
            first, last = self._own_lines(node)
            indent = self.module.lines[first][: len(self._line(first)) - len(self._line(first).lstrip())]
            ahead, behind = (self._indented(codes, indent) for codes in (change.ahead, change.behind))
            if not change.gone:
                if ahead:
                    yield Splice(self._start(first), self._start(first), f"{ahead}\n")
                if behind:
                    end = self._end(self._last_of_block(node, last))
                    yield Splice(end, end, f"\n{behind}")
                continue
            new = "\n".join(filter(None, (ahead, behind, f"{indent}pass" if node in emptied else "")))
            if not ahead:
                first = self._first_of_remarks(first, len(indent))
            if new:
                yield Splice(self._start(first), self._end(last), new)
            else:
                yield Splice(max(0, self._start(first) - 1), self._end(last) + (first == 0), "")

    def _changed_expressions(self) -> Iterator[Splice]:
        for node, code in self._expressions.items():
            start, end = self._span(node)
            text = self.module.text
            meant = parsed(f"({text[start:end]})")
            # Within an f-string, places are not told before Python 3.12.
            if meant is None or [ast.dump(one) for one in meant.body] != [ast.dump(ast.Expr(node))]:
                raise self._odd(node.lineno)
            yield Splice(*self._without_brackets(node, start, end), code)

    def _top(self) -> Iterator[Splice]:
        """New imports after the last of the file's first imports, new functions after those."""
        body = self.module.tree.body
        present = {ast.dump(node) for node in body}
        wanted = [
            code for code in dict.fromkeys(self.imports) if ast.dump(ast.parse(code).body[0]) not in present
        ]
        functions = [f"\n\n{self._indented([code], '')}" for code in dict.fromkeys(self.helpers)]
        at = _after_imports(body)
        if not wanted and not functions:
            return
        if at == 0:
            first = self._first_of_remarks(self._first(body[0]), 0) if body else 0
            first = self._first(body[0]) if body and first == 0 else first
            new = "".join(f"{text}\n" for text in (*wanted, *functions)) + "\n\n" * bool(functions)
            yield Splice(self._start(first), self._start(first), new)
            return
        last = (body[at - 1].end_lineno or 1) - 1
        yield Splice(self._end(last), self._end(last), "".join(f"\n{text}" for text in (*wanted, *functions)))
        if functions and at < len(body):
            # What follows keeps two blank lines from the new function.
            behind = last + 1
            while not self._line(behind).strip():
                behind += 1
            yield Splice(self._end(last), self._start(behind) - 1, "\n\n")

    def _emptied(self) -> set[ast.stmt]:
        """Statements whose removal would leave a block without any: the last of each such block."""
        gone = {
            node
            for node, change in self._statements.items()
            if change.gone and not change.ahead + change.behind
        }
        return {
            block[-1]
            for node in gone
            for _, block in ast.iter_fields(self.module.parents[node])
            if isinstance(block, list) and block and all(one in gone for one in block)
        } - {node for node in gone if isinstance(self.module.parents[node], ast.Module)}

    def _own_lines(self, node: ast.stmt) -> tuple[int, int]:
        """The first and the last line of a statement that shares them with no other."""
        first, (_, end) = self._first(node), self._span(node)
        ahead = self._line(first).lstrip()
        column = self.module.column(node.lineno, node.col_offset)
        behind = self.module.text[end : self._end((node.end_lineno or node.lineno) - 1)].lstrip()
        alone = not self._line(node.lineno - 1)[:column].strip() and behind[:1] in ("", "#")
        if not alone or (isinstance(node, ast.If) and ahead.startswith("elif")):
            raise self._odd(node.lineno)
        return first, (node.end_lineno or node.lineno) - 1

    def _first(self, node: ast.stmt) -> int:
        """The line that a statement begins on, with its decorators."""
        return min((one.lineno for one in getattr(node, "decorator_list", ())), default=node.lineno) - 1

    def _first_of_remarks(self, first: int, margin: int) -> int:
        """The first of the comments and blank lines above a line that belong to it."""
        while first > 0 and first not in self.module.in_strings:
            line = self._line(first - 1)
            deeper = len(line) - len(line.lstrip()) > margin
            if line.strip() and (deeper or not line.lstrip().startswith("#")):
                break
            first -= 1
        return first

    def _last_of_block(self, node: ast.stmt, last: int) -> int:
        """The last line of a statement with the comments that stand at the end of its block."""
        margin = len(self._line(self._first(node))) - len(self._line(self._first(node)).lstrip())
        for behind in range(last + 1, len(self.module.lines) if hasattr(node, "body") else 0):
            line = self._line(behind)
            if line.strip() and not (
                line.lstrip().startswith("#") and len(line) - len(line.lstrip()) > margin
            ):
                break
            last = behind if line.strip() else last
        return last

    def _indented(self, codes: Sequence[str], indent: str) -> str:
        try:
            return "\n".join(
                indented(code, indent, unit_of(self.module.tree, self.module.lines)) for code in codes
            )
        except (SyntaxError, ValueError) as error:
            raise CannotEdit("the file cannot be edited without risk to its form") from error

    def _without_brackets(self, node: ast.expr, start: int, end: int) -> tuple[int, int]:
        """The span with the brackets around it that only group it."""
        text = self.module.text
        left, right = len(text[:start].rstrip()), len(text) - len(text[end:].lstrip())
        grouped = text[left - 1 : left] == "(" and text[right : right + 1] == ")"
        owner = self.module.parents.get(node)
        whole = isinstance(owner, (ast.If, ast.While, ast.Assign, ast.AnnAssign, ast.Return, ast.For))
        return (
            (left - 1, right + 1)
            if grouped and whole and text[left - 2 : left - 1].isspace()
            else (start, end)
        )

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The first character of a node, and the one behind its last."""
        end = node.end_lineno or node.lineno
        return (
            self._start(node.lineno - 1) + self.module.column(node.lineno, node.col_offset),
            self._start(end - 1) + self.module.column(end, node.end_col_offset or 0),
        )

    def _line(self, number: int) -> str:
        return self.module.lines[number]

    def _start(self, line: int) -> int:
        return self.module.starts[line]

    def _end(self, line: int) -> int:
        return self.module.starts[line] + len(self.module.lines[line])

    @staticmethod
    def _odd(line: int) -> CannotEdit:
        return CannotEdit(f"line {line} is written in a form that no edit is made for")


def _after_imports(body: Sequence[ast.stmt]) -> int:
    """The place behind the leading imports, the docstring where there are none."""
    at = 0
    for number, node in enumerate(body):
        docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not docstring and not isinstance(node, (ast.Import, ast.ImportFrom)):
            break
        at = number + 1
    return at
