"""The formats of a diagnosis: which there are, and one written."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rankandfile import listing

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis


class Format(str, Enum):
    """`text` is the card on the terminal. Every other one is a file in `render/formats/`, named after it."""

    _ignore_ = "others word"

    text = "text"
    others = vars()
    for word in listing.names("rankandfile.render.formats"):
        others[word] = word


def formatted(diagnosis: Diagnosis, format: Format, root: Path) -> str:
    """The diagnosis in a format for other tools. Files that are found under `root` are named as they are there."""
    written: str = import_module(f"rankandfile.render.formats.{format.value}").write(diagnosis, in_tree(root))
    return written.rstrip("\n")


def in_tree(root: Path) -> Callable[[str], str | None]:
    """A path as the process saw it -> the same file under `root`, by the longest tail of the path that is there.

    A job runs under /workspace or in a container; code scanning and editors want the path in the repository.
    """

    def find(path: str) -> str | None:
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
        if ".." in parts or "\0" in path:
            return None
        for start in range(len(parts)):
            tail = "/".join(parts[start:])
            try:
                if (root / tail).is_file():
                    return tail
            except OSError:
                return None
        return None

    return find
