"""A program's source, or a picture as text: what it says is no log, whatever words of failure stand in it."""

from __future__ import annotations

from rankandfile.evidence.files.kind import FileKind, Sign

_SUFFIXES = (
    *(".c", ".cc", ".cpp", ".cu", ".cuh", ".css", ".go", ".h", ".hpp", ".html", ".ipynb", ".java"),
    *(".js", ".py", ".pyi", ".pyx", ".rs", ".svg", ".ts"),
)

KIND = FileKind("source_code", (Sign(390, lambda head: head.name.lower().endswith(_SUFFIXES)),))
