"""A program's source, its settings or a picture as text: none is a log, whatever words of failure stand in it."""

from __future__ import annotations

from rankandfile.evidence.files.kind import FileKind, Sign

_PROGRAMS = ".c .cc .cpp .cu .cuh .cxx .go .h .hpp .java .js .jsx .proto .py .pyi .pyx .rs .sql .ts .tsx"
_PAGES_AND_SETTINGS = ".css .html .ipynb .j2 .jinja .jinja2 .scss .svg .toml"
_SUFFIXES = tuple(f"{_PROGRAMS} {_PAGES_AND_SETTINGS}".split())

KIND = FileKind("source_code", (Sign(390, lambda head: head.name.lower().endswith(_SUFFIXES)),))
