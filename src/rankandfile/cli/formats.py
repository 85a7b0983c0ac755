"""The formats of a diagnosis, and the one place that chooses among them."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis


class Format(str, Enum):
    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"
    markdown = "markdown"
    junit = "junit"


def formatted(diagnosis: Diagnosis, format: Format, root: Path) -> str:
    """The diagnosis in a machine format. Files that are found under `root` are named as they are there."""
    if format is Format.sarif:
        from rankandfile.render.sarif import sarif

        return sarif(diagnosis, in_tree(root))
    if format is Format.github:
        from rankandfile.render.github import github

        return github(diagnosis, in_tree(root))
    if format is Format.markdown:
        from rankandfile.render.markdown import markdown

        return markdown(diagnosis).rstrip("\n")
    if format is Format.junit:
        from rankandfile.render.junit import junit

        return junit(diagnosis)
    from rankandfile.model.diagnosis import to_json

    return to_json(diagnosis).decode()


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
