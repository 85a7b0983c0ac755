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


def without_comment(line: str) -> str:
    """A line of code without the comment at its end."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            if token.type == tokenize.COMMENT and token.start[0] == 1:
                return line[: token.start[1]].rstrip()
    except (tokenize.TokenError, SyntaxError):
        # A line by itself is seldom a whole statement; what came before the error was read.
        pass
    return line
