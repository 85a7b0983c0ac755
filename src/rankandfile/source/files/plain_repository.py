"""A repository without its configuration: git stops on any value there that it does not understand, and a stranger's
repository may have some.

A folder of our own stands for the `.git` of the repository: it has that one's objects and references, and nothing else
of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

_LONGEST = 1 << 16
_POINTS = re.compile(r"gitdir: (.{1,4096}?)\s*$")
_OF_SHA256 = re.compile(r"(?im)^\s*objectformat\s*=\s*\"?sha256\b")
_CONFIG = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectFormat = {}\n"


@contextmanager
def without_configuration(folder: Path) -> Iterator[dict[str, str]]:
    """What to add to git's environment; nothing where the folder is in no repository. Raises OSError."""
    found = _found(folder.resolve())
    if found is None:
        yield {}
        return
    top, own = found
    common = own / _read(own / "commondir").strip()
    sha256 = _OF_SHA256.search(_read(common / "config")) is not None
    with TemporaryDirectory(prefix="raf-git-") as name:
        ours = Path(name)
        (ours / "config").write_text(_CONFIG.format("sha256" if sha256 else "sha1"), encoding="utf-8")
        (ours / "HEAD").write_text(_read(own / "HEAD") or "ref: refs/heads/none\n", encoding="utf-8")
        (ours / "refs").symlink_to(common / "refs")
        for listed in ("packed-refs", "shallow"):
            if (common / listed).is_file():
                (ours / listed).symlink_to(common / listed)
        yield {
            "GIT_DIR": str(ours),
            "GIT_WORK_TREE": str(top),
            "GIT_OBJECT_DIRECTORY": str(common / "objects"),
        }


def _found(folder: Path) -> tuple[Path, Path] | None:
    """The folder that the repository is of, and where it lies."""
    for top in (folder, *folder.parents):
        here = top / ".git"
        if (here / "HEAD").is_file():
            return top, here
        if here.is_file() and (points := _POINTS.match(_read(here))):
            return top, top / points[1]
    return None


def _read(path: Path) -> str:
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(_LONGEST).decode("utf-8", "replace")
    return ""
