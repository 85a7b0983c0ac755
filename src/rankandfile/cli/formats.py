"""The formats of a diagnosis: which there are, and one written."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rankandfile import listing

from .errors import UserError

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis


class Format(str, Enum):
    """`text` is the card on the terminal. Every other one is a file in `render/formats/`, named after it."""

    _ignore_ = "others word"

    text = "text"
    others = vars()
    for word in listing.names("rankandfile.render.formats"):
        others[word] = word


_SUFFIX_OF = {
    ".json": Format("json"),
    ".sarif": Format("sarif"),
    ".md": Format("markdown"),
    ".xml": Format("junit"),
    ".txt": Format.text,
    ".html": None,
}
SUFFIXES = ".json, .sarif, .md, .xml for JUnit, .txt, .html for the page"


def format_of(output: Path, asked: Format) -> Format | None:
    """The format for a file: the one that was asked for, else by the file's suffix; None: the page."""
    if asked is not Format.text:
        return asked
    try:
        return _SUFFIX_OF[output.suffix.lower()]
    except KeyError:
        raise UserError(
            f"-o {output}: the suffix tells the format: {SUFFIXES}; or name it with --format"
        ) from None


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
