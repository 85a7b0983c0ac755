"""What a file given to the doctor is: by its name where that tells, else by its text."""

from __future__ import annotations

import re
from enum import Enum


class Kind(Enum):
    SCRIPT = "script"
    ENVIRONMENT = "environment"
    MANIFEST = "manifest"
    PYTHON = "python"


_SUFFIXES = {
    **dict.fromkeys((".sh", ".bash", ".sbatch", ".slurm", ".job"), Kind.SCRIPT),
    **dict.fromkeys((".yaml", ".yml", ".json"), Kind.MANIFEST),
    **dict.fromkeys((".py", ".pyw"), Kind.PYTHON),
    ".env": Kind.ENVIRONMENT,
}
_SHEBANG = re.compile(r"#!.*\b(python|\w*sh)")
_MANIFEST = re.compile(r"^(apiVersion|kind|metadata|spec)\s*:", re.MULTILINE)
_PAIR = re.compile(r"[A-Za-z_]\w*=")
_LOOKED_AT = 64 << 10


def kind_of(name: str, text: str) -> Kind:
    head = text[:_LOOKED_AT]
    if "\0" in head:
        return Kind.ENVIRONMENT
    shebang = _SHEBANG.match(head)
    if shebang:
        return Kind.PYTHON if shebang[1] == "python" else Kind.SCRIPT
    suffix = "." + name.rsplit(".", 1)[-1].lower() if "." in name else ""
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if head.lstrip().startswith("{") or _MANIFEST.search(head):
        return Kind.MANIFEST
    lines = [line for line in head.split("\n") if line.strip() and not line.startswith("#")]
    pairs = sum(1 for line in lines if _PAIR.match(line))
    return (
        Kind.ENVIRONMENT if lines and _PAIR.match(lines[0]) and pairs * 3 >= len(lines) * 2 else Kind.SCRIPT
    )
