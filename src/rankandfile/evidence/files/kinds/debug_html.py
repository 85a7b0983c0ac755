"""A page of torch's debug server: the stacks of all ranks, or what its other files hold too."""

from __future__ import annotations

from rankandfile.evidence.files.kind import FileKind, Head, Sign
from rankandfile.evidence.files.kinds.web_page import is_page
from rankandfile.evidence.text.reading import read_page


def recognise(head: Head) -> bool:
    text = head.words or ""
    return is_page(head) and ("Torch Distributed Debug Server" in text or "PyTorch Distributed" in text)


KIND = FileKind("debug_html", (Sign(200, recognise),), read_page)
