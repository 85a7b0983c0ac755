"""A patch as bytes of the file that it was made for: encoding, line ends and the missing last one stay as they are."""

from __future__ import annotations

import difflib
import io
import re
import tokenize

from rankandfile.source.files.text import decode

from .patch import Patch, unified


class NotTheSame(ValueError):
    """The file is not the one that the patch was made for; the text says so in a line."""


def patched_bytes(patch: Patch, original: bytes) -> bytes:
    """The file with the patch in it. Raises `NotTheSame`."""
    encoding = _encoding(patch, original)
    return _restored(patch, original.decode(encoding)).encode(encoding)


def diff_bytes(patch: Patch, original: bytes, path: str) -> bytes:
    """The unified diff as `git apply` needs it for this very file. Raises `NotTheSame`."""
    return unified_bytes(path, original, patched_bytes(patch, original))


def unified_bytes(path: str, before: bytes, after: bytes) -> bytes:
    """The unified diff of a file's bytes, in its own encoding and with its line ends."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(before).readline)
    encoding = encoding.removesuffix("-sig")
    return unified(path, before.decode(encoding), after.decode(encoding)).encode(encoding)


def _encoding(patch: Patch, original: bytes) -> str:
    if decode(original) != patch.before:
        raise NotTheSame(f"{patch.path} is not what the patch was made for: it has changed")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(original).readline)
    return encoding.removesuffix("-sig")


def _restored(patch: Patch, text: str) -> str:
    """The patched text, with the line ends that the file has, and the byte order mark if it has one."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(mark)
    written = re.findall(r"([^\r\n]*)(\r\n|\r|\n|\Z)", text)
    lines = [(line, end) for line, end in written if line or end]
    ends = [end for _, end in lines if end]
    usual = max(set(ends), key=ends.count) if ends else "\n"
    before, after = patch.before.split("\n"), patch.after.split("\n")
    if before[-1] == "":
        before.pop()
    ended = after[-1] == ""
    if ended:
        after.pop()
    out: list[str] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            out += [line + (end or usual) for line, end in lines[i:j]]
        else:
            out += [line + usual for line in after[k:m]]
    result = mark + "".join(out)
    return result if ended else result.removesuffix(usual)
