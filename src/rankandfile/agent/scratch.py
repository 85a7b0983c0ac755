"""A copy of a source tree to try things in: what the command does there, the person's own tree does not see."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".hg", "__pycache__", ".venv", "venv", "node_modules", ".mypy_cache"
)
_MOST_BYTES, _MOST_FILES = 4 << 30, 200_000


class TooLarge(ValueError):
    """The tree is no source tree; the text says how large it is."""


@contextmanager
def copied(tree: Path) -> Iterator[Path]:
    """Raises `TooLarge`, and OSError."""
    _check(tree)
    with TemporaryDirectory(prefix="raf-prove-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / (tree.resolve().name or "src")
        shutil.copytree(tree, copy, symlinks=True, ignore=_without_special)
        _turn_links(tree.resolve(), copy)
        yield copy


def write(copy: Path, path: str, data: bytes) -> None:
    """The file in the copy, also where a link stands for it."""
    target = copy / path
    if not target.parent.resolve().is_relative_to(copy.resolve()):
        raise OSError(f"{path} is not in the copy")
    if target.is_symlink():
        target.unlink()
    target.write_bytes(data)


def _without_special(folder: str, names: list[str]) -> set[str]:
    """Pipes and sockets cannot be copied, and hold up whoever tries."""
    plain = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
    special = {name for name in names if stat.S_IFMT((Path(folder) / name).lstat().st_mode) not in plain}
    return special | _LEFT_OUT(folder, names)


def _check(tree: Path) -> None:
    size = count = 0
    for folder, folders, names in os.walk(tree):
        left_out = _LEFT_OUT(folder, folders)
        folders[:] = [name for name in folders if name not in left_out]
        for name in names:
            count += 1
            size += (Path(folder) / name).lstat().st_size
        if size > _MOST_BYTES or count > _MOST_FILES:
            raise TooLarge(f"{tree} is too large to copy ({count:,} files and {size >> 20:,} MiB, and more)")


def _turn_links(tree: Path, copy: Path) -> None:
    """Links into the tree lead into the copy: through them a command would change what it must not."""
    for folder, folders, names in os.walk(copy):
        for name in (*folders, *names):
            link = Path(folder) / name
            if link.is_symlink():
                target = link.readlink()
                if target.is_absolute() and target.is_relative_to(tree):
                    link.unlink()
                    link.symlink_to(copy / target.relative_to(tree))
