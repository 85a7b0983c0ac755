"""The formats of a diagnosis: which there are, and one written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from rankandfile import listing

from .output import of_suffix

if TYPE_CHECKING:
    from rankandfile.model.diagnosis import Diagnosis


#: Where other people's code is installed: its files are none of the repository's, whatever their names.
_LIBRARY = {"site-packages", "dist-packages"}


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
    return of_suffix(output, _SUFFIX_OF, SUFFIXES) if asked is Format.text else asked


def formatted(diagnosis: Diagnosis, format: Format, root: Path, sources: Sequence[Path] = ()) -> str:
    """The diagnosis in a format for other tools. Files that are found in the repository of `root`, or in the job's
    `sources` in there, are named as they are there."""
    from rankandfile.render.places import cohort_spots

    seen = [spot.file for verdict in diagnosis.verdicts for spot in cohort_spots(verdict)]
    find = in_tree(repository(root), sources, seen)
    written: str = import_module(f"rankandfile.render.formats.{format.value}").write(diagnosis, find)
    return written.rstrip("\n")


def repository(folder: Path) -> Path:
    """The top of the repository that a folder is in; the folder itself where it is in none."""
    here = folder.resolve()
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), here)


def in_tree(
    root: Path, sources: Sequence[Path] = (), seen: Sequence[str] = ()
) -> Callable[[str], str | None]:
    """A path as the process saw it -> the same file below `root`, by the longest tail of the path that is there.

    A job runs under /workspace or in a container; code scanning and editors want the path in the repository. Asked
    first are the job's `sources`, then `root` itself; then whatever single file below it is most like the path. What
    the sources name in few words (`trainer.py`), and a process in one way (`seen`), is looked for as that has it: so
    both ways of naming a file lead to the same one.
    """
    top = root.resolve()
    inside = [one.resolve() for one in sources if one.is_dir() and one.resolve().is_relative_to(top)]

    @cache
    def named() -> Mapping[str, Sequence[tuple[str, ...]]]:
        """The files of the tree by their last name."""
        from rankandfile.source.files.roots import Folder

        found: dict[str, list[tuple[str, ...]]] = {}
        for one in Folder(top).names():
            parts = tuple(one.split("/"))
            found.setdefault(parts[-1], []).append(parts)
        return found

    @cache
    def find(path: str) -> str | None:
        parts = _parts(path)
        if not parts or ".." in parts or "\0" in path or (_LIBRARY & set(parts)):
            return None
        for folder in (*inside, top):
            if folder == top:
                parts = _fuller(parts, seen)
            for start in range(len(parts)):
                try:
                    if (file := folder.joinpath(*parts[start:])).is_file():
                        return file.relative_to(top).as_posix()
                except OSError:
                    return None
        alike = [(_same_end(parts, other), other) for other in named().get(parts[-1], ())]
        most = max((same for same, _ in alike), default=0)
        best = [other for same, other in alike if same == most]
        return "/".join(best[0]) if len(best) == 1 else None

    return find


def _fuller(parts: list[str], seen: Sequence[str]) -> list[str]:
    """The one longer path that ends in these parts; themselves where there is none, or more than one."""
    others = {tuple(_parts(one)) for one in seen}
    longer = [other for other in others if other[-len(parts) :] == tuple(parts)]
    return list(longer[0]) if len(longer) == 1 and ".." not in longer[0] else parts


def _parts(path: str) -> list[str]:
    return [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]


def _same_end(one: Sequence[str], other: Sequence[str]) -> int:
    """How many last parts two paths have in common."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
