"""Any other page: an error of a server's that was saved as if it were a log."""

from __future__ import annotations

import re

from rankandfile.evidence.files.kind import FileKind, Head, Sign

_HTML = re.compile(r"^\s*<(!doctype html|html)", re.IGNORECASE)


def is_page(head: Head) -> bool:
    return _HTML.match(head.words or "") is not None


KIND = FileKind("unknown", (Sign(205, is_page),))
