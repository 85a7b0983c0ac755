"""Edits of a file that leave everything else as it is written: LibCST, addressed by places that `ast` found."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .code import Module

if TYPE_CHECKING:
    import libcst as cst

Start = tuple[int, int]
Span = tuple[int, int, int, int]
#: Takes the statement, or the expression, and gives what stands in its place.
Change = Callable[[Any], Any]


class LibCSTMissing(ImportError):
    """Patches need LibCST; the text is one line for a person."""

    def __init__(self) -> None:
        super().__init__(
            "LibCST is not installed, and patches are made with it: pip install 'rankandfile[fix]'"
        )


class CannotEdit(ValueError):
    """The place is written in a way that no edit was made for; the text says which."""


def library() -> Any:
    try:
        import libcst
    except ImportError as error:
        raise LibCSTMissing from error
    return libcst


class Edits:
    """Changes of one module, made together by `apply`."""

    def __init__(self, module: Module) -> None:
        library()
        self.module = module
        self.statements: dict[Start, Change] = {}
        self.expressions: dict[Span, Change] = {}
        self.imports: list[str] = []
        self.helpers: list[str] = []

    def start(self, node: ast.stmt | ast.ExceptHandler) -> Start:
        return node.lineno, self.module.column(node.lineno, node.col_offset)

    def statement(self, node: ast.stmt | ast.ExceptHandler, change: Change) -> None:
        self.statements[self.start(node)] = change

    def expression(self, node: ast.expr, code: str) -> None:
        """Put this code in the place of an expression."""
        cst = library()
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        span = (
            node.lineno,
            self.module.column(node.lineno, node.col_offset),
            end_line,
            self.module.column(end_line, end),
        )
        self.expressions[span] = lambda _old: cst.parse_expression(code)

    def remove(self, node: ast.stmt) -> None:
        self.statements[self.start(node)] = lambda _old: library().RemoveFromParent()

    def replace(self, node: ast.stmt, *codes: str) -> None:
        """Put these statements in the place of this one."""
        self.remove(node)
        self._around(node, codes, ())

    def before(self, node: ast.stmt, *codes: str) -> None:
        """Put these statements before this one."""
        self._around(node, codes, ())

    def after(self, node: ast.stmt, *codes: str) -> None:
        self._around(node, (), codes)

    def _around(self, node: ast.stmt, first: Sequence[str], last: Sequence[str]) -> None:
        earlier = self.statements.get(self.start(node))

        def change(old: Any) -> Any:
            cst = library()
            now = earlier(old) if earlier else old
            gone = isinstance(now, cst.RemovalSentinel)
            kept = [old] if gone else list(now.nodes) if isinstance(now, cst.FlattenSentinel) else [now]
            ahead = [statement for code in first for statement in statements(code)]
            if ahead and kept and hasattr(kept[0], "leading_lines"):
                # Comments and blank lines stay on top: they speak of the place, not of the old first statement.
                ahead[0] = ahead[0].with_changes(leading_lines=kept[0].leading_lines)
                kept[0] = kept[0].with_changes(leading_lines=[])
            behind = [statement for code in last for statement in statements(code)]
            return cst.FlattenSentinel([*ahead, *([] if gone else kept), *behind])

        self.statements[self.start(node)] = change

    def apply(self) -> str:
        """The module's new text. Raises `CannotEdit` where a place was not found as `ast` described it."""
        cst = library()
        try:
            editor = _editor(cst, self)
            changed = self.module.placed.visit(editor)
        except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError, ValueError) as error:
            raise CannotEdit("the file cannot be edited without risk to its form") from error
        if editor.left:
            raise CannotEdit(f"line {min(editor.left)[0]} is written in a form that no edit is made for")
        text = str(_with_top(cst, changed, self.imports, self.helpers).code)
        try:
            ast.parse(text)
        except (SyntaxError, ValueError) as error:
            raise CannotEdit("the edited file would not parse") from error
        return text


def statements(code: str) -> list[Any]:
    """Statements of this code, ready to be put into a block."""
    return list(library().parse_module(code if code.endswith("\n") else code + "\n").body)


def _editor(cst: Any, edits: Edits) -> Any:
    provider = cst.metadata.PositionProvider

    class Editor(cst.CSTTransformer):  # type: ignore[misc]
        METADATA_DEPENDENCIES = (provider,)

        def __init__(self) -> None:
            super().__init__()
            self.left: set[tuple[int, ...]] = {*edits.statements, *edits.expressions}
            self.lines = {place[0] for place in self.left}

        def on_visit(self, node: Any) -> bool:
            """Whether to look inside: not where no line is edited. A decorated one begins above its first line."""
            if not isinstance(node, (cst.BaseCompoundStatement, cst.SimpleStatementLine)):
                return bool(super().on_visit(node))
            place = self.get_metadata(provider, node, None)
            if place is None or getattr(node, "decorators", None):
                return True
            return any(place.start.line <= line <= place.end.line for line in self.lines)

        def on_leave(self, original_node: Any, updated_node: Any) -> Any:
            new = super().on_leave(original_node, updated_node)
            if isinstance(original_node, cst.BaseExpression):
                place = self.get_metadata(provider, original_node, None)
                if place is None:
                    return new
                span = (place.start.line, place.start.column, place.end.line, place.end.column)
                if span in edits.expressions and span in self.left:
                    self.left.discard(span)
                    return edits.expressions[span](new)
            elif isinstance(
                original_node, (cst.BaseCompoundStatement, cst.SimpleStatementLine, cst.ExceptHandler)
            ):
                place = self.get_metadata(provider, original_node, None)
                if place is None:
                    return new
                start = (place.start.line, place.start.column)
                if start in edits.statements:
                    self.left.discard(start)
                    return edits.statements[start](new)
            return new

    return Editor()


def _with_top(cst: Any, module: Any, imports: Sequence[str], helpers: Sequence[str]) -> Any:
    """New imports after the last of the file's first imports, new functions after those."""
    body = list(module.body)
    at = _after_imports(cst, body)
    present = {
        module.code_for_node(s.with_changes(leading_lines=[])).strip()
        for s in body
        if hasattr(s, "leading_lines")
    }
    wanted = [code for code in dict.fromkeys(imports) if code not in present]
    new = [statement for code in wanted for statement in statements(code)]
    if new and at == 0 and body and hasattr(body[0], "leading_lines"):
        new[-1] = new[-1].with_changes(trailing_whitespace=cst.TrailingWhitespace())
    functions = []
    for code in dict.fromkeys(helpers):
        (function,) = statements(code)
        functions.append(function.with_changes(leading_lines=[cst.EmptyLine(indent=False)] * 2))
    if functions and at < len(body) and hasattr(body[at], "leading_lines"):
        # What follows keeps two blank lines from the new function.
        comments = list(body[at].leading_lines)
        while comments and comments[0].comment is None:
            comments.pop(0)
        body[at] = body[at].with_changes(leading_lines=[*([cst.EmptyLine(indent=False)] * 2), *comments])
    return module.with_changes(body=[*body[:at], *new, *functions, *body[at:]])


def _after_imports(cst: Any, body: Sequence[Any]) -> int:
    """The place behind the leading imports, the docstring where there are none."""
    at = 0
    for number, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            break
        small = statement.body[0]
        if isinstance(small, (cst.Import, cst.ImportFrom)) or (
            number == 0
            and isinstance(small, cst.Expr)
            and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))
        ):
            at = number + 1
        elif at == 0 or not isinstance(small, (cst.Import, cst.ImportFrom)):
            break
    return at


def block(node: cst.CSTNode) -> list[Any]:
    """The statements of a compound statement's body. Raises `CannotEdit` for `if x: y` on one line."""
    body = getattr(node, "body", None)
    if not isinstance(body, library().IndentedBlock):
        raise CannotEdit("the statement is on one line with its header")
    return list(body.body)
