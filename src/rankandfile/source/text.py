"""Bytes of a Python file to text: bounded, in the encoding that the file itself names (PEP 263)."""

from __future__ import annotations

import io
import tokenize

#: A larger file is data, or an attack; nobody reads it in an excerpt either.
MAX_BYTES = 2 << 20


def decode(data: bytes) -> str | None:
    """None if these are no bytes of a Python file."""
    if len(data) > MAX_BYTES or b"\0" in data:
        return None
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError, ValueError):
        return None
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
