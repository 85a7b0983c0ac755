"""A part of a case directory: no evidence by itself."""

from __future__ import annotations

from rankandfile.evidence.files.kind import FileKind, Head, Sign


def _is_manifest(head: Head) -> bool:
    return "schema" in head.keys[0] and '"rankandfile.case/' in (head.json or "")


KIND = FileKind("case", (Sign(20, lambda head: head.data.startswith(b"PAR1")), Sign(100, _is_manifest)))
