"""Findings as an editor shows them: diagnostics, what a hover says, and the changes that it offers.

In: findings by the paths of a folder, the lines of the document. Out: what the protocol has for it.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types as lsp
from pygls.uris import from_fs_path

from rankandfile.model.lint import Flagged, Told
from rankandfile.source.files.text import decode

from .asking import Mend

SOURCE = "raf"
_SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "hint": lsp.DiagnosticSeverity.Information,
}
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""As the protocol has lines."""
Units = Callable[[str], int]
"""How long the client takes a text to be."""


def uri_of(folder: Path, file: str) -> str:
    return from_fs_path(str(folder / file)) or ""


def diagnostic(flagged: Flagged, folder: Path, lines: Sequence[str], units: Units) -> lsp.Diagnostic:
    words = [flagged.message, *([flagged.story[0].words] if flagged.story else [])]
    return lsp.Diagnostic(
        range=on_line(flagged.line, lines, units),
        severity=_SEVERITIES[flagged.severity],
        code=flagged.rule,
        source=SOURCE,
        message="\n".join([*words, *([f"do: {flagged.fix}"] if flagged.fix else [])]),
        related_information=[
            lsp.DiagnosticRelatedInformation(
                location=lsp.Location(uri=uri_of(folder, told.file), range=_start_of(told.line)),
                message=told.words,
            )
            for told in flagged.story
        ],
    )


def on_line(line: int, lines: Sequence[str], units: Units) -> lsp.Range:
    """From the first word of a line to its end."""
    text = lines[line - 1].rstrip("\r\n") if 0 < line <= len(lines) else ""
    indent = len(text) - len(text.lstrip())
    return lsp.Range(
        start=lsp.Position(line=line - 1, character=indent),
        end=lsp.Position(line=line - 1, character=units(text)),
    )


def _start_of(line: int) -> lsp.Range:
    at = lsp.Position(line=max(line - 1, 0), character=0)
    return lsp.Range(start=at, end=at)


def hover(flagged: Flagged, mend: Mend | None, page: str, folder: Path) -> str:
    """The story of a finding, each step with its place, what mends it, and the page of its rule."""

    def step(told: Told) -> str:
        name = f"{told.file.rpartition('/')[2]}:{told.line}"
        return f"1. [{name}]({uri_of(folder, told.file)}#L{told.line}) {told.words}"

    parts = [
        f"**{flagged.severity}[{flagged.rule}]** {flagged.message}",
        "\n".join(step(told) for told in flagged.story),
        f"*Do:* {flagged.fix}" if flagged.fix else "",
        _of_mend(mend),
        "---",
        f"### {flagged.rule}",
        # Headings of the page stand below the rule's.
        page.replace("\n## ", "\n#### "),
    ]
    return "\n\n".join(part for part in parts if part)


def _of_mend(mend: Mend | None) -> str:
    if mend is None:
        return ""
    if mend.change is None:
        return f"*No change is offered:* {mend.unchanged}" if mend.unchanged else ""
    decide = f"\n\n*Left to decide:* {mend.change.decide}" if mend.change.decide else ""
    return f"*A quick fix:* {mend.change.title}. {mend.change.words}{decide}"


def mending(mend: Mend, about: lsp.Diagnostic, folder: Path) -> lsp.CodeAction | None:
    """The change after which the finding is gone, and no other one is there."""
    if mend.change is None or not mend.changed:
        return None
    decide = f" (to decide: {mend.change.decide})" if mend.change.decide else ""
    changes = {
        uri_of(folder, each.file): edits(decode(each.before) or "", decode(each.after) or "")
        for each in mend.changed
    }
    return lsp.CodeAction(
        title=f"{mend.change.title}{decide}",
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=[about],
        is_preferred=not mend.change.decide,
        edit=lsp.WorkspaceEdit(changes=changes),
    )


def edits(before: str, after: str) -> list[lsp.TextEdit]:
    """Whole lines that differ."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    return [
        lsp.TextEdit(
            range=lsp.Range(start=lsp.Position(line=a, character=0), end=lsp.Position(line=b, character=0)),
            new_text="".join(new[c:d]),
        )
        for what, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if what != "equal"
    ]


def suppressing(flagged: Flagged, about: lsp.Diagnostic, uri: str, text: str) -> lsp.CodeAction | None:
    """The comment that says that somebody has looked at it: at the line's end, or above where it cannot stand."""
    lines = _LINE.findall(text)
    if not 0 < flagged.line <= len(lines):
        return None
    line = lines[flagged.line - 1]
    code = line.rstrip("\r\n")
    indent = code[: len(code) - len(code.lstrip())]
    comment = f"# raf: ok[{flagged.rule}] "
    end = line[len(code) :] or "\n"
    for new in (f"{code.rstrip()}  {comment}{line[len(code) :]}", f"{indent}{comment}{end}{line}"):
        changed = "".join([*lines[: flagged.line - 1], new, *lines[flagged.line :]])
        if _same_program(text, changed):
            return lsp.CodeAction(
                title=f"It is as it should be: # raf: ok[{flagged.rule}]",
                kind=lsp.CodeActionKind.QuickFix,
                diagnostics=[about],
                edit=lsp.WorkspaceEdit(changes={uri: edits(text, changed)}),
            )
    return None


def _same_program(before: str, after: str) -> bool:
    try:
        return ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
    except (SyntaxError, ValueError, RecursionError):
        return False
