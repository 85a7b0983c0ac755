"""A log, as text or as lines of JSON; and an answer of NCCL's RAS service, which becomes events like a log's."""

from __future__ import annotations

from rankandfile.evidence.files.kind import FileKind, Head, Sign
from rankandfile.evidence.text.envelopes import is_document
from rankandfile.evidence.text.reading import read_log


def _is_lines_of_json(head: Head) -> bool:
    return head.json is not None and ("\n{" in head.json.strip() or head.json.lstrip().startswith("["))


KIND = FileKind(
    "log",
    (
        Sign(110, lambda head: "communicators" in head.keys[0]),
        Sign(120, lambda head: head.json is not None and is_document(head.json.encode("utf-8", "replace"))),
        Sign(410, _is_lines_of_json),
        Sign(420, lambda head: bool((head.words or "").strip())),
    ),
    read_log,
)
