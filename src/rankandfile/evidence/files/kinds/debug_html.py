"""A page of torch's debug server, or any other page: what it shows is in the server's other files."""

from __future__ import annotations

import re

from rankandfile.evidence.files.kind import FileKind, Sign

_HTML = re.compile(r"^\s*<(!doctype html|html)", re.IGNORECASE)

KIND = FileKind("debug_html", (Sign(200, lambda head: _HTML.match(head.words or "") is not None),))
