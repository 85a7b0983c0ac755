"""The lines of a working tree that a change brings: those that differ from a revision."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class NoDiff(Exception):
    """git cannot tell what changed."""


def changed_lines(paths: Sequence[Path], revision: str) -> dict[Path, frozenset[int]]:
    """File -> its lines that are new or changed since the revision; untracked files as a whole."""
    found: dict[Path, set[int]] = {}
    for top in {_top(path) for path in paths}:
        file: Path | None = None
        for line in _git(
            top, "diff", "--unified=0", "--no-color", "--no-ext-diff", revision, "--"
        ).splitlines():
            if line.startswith("+++ "):
                name = line[4:].removeprefix("b/")
                file = None if name == "/dev/null" else top / name
            elif file is not None and (match := _HUNK.match(line)):
                first, many = int(match[1]), int(match[2] or 1)
                found.setdefault(file, set()).update(range(first, first + many))
        for name in _git(top, "ls-files", "--others", "--exclude-standard", "-z").split("\0"):
            if name.endswith(".py"):
                text = (top / name).read_text(encoding="utf-8", errors="replace")
                found[top / name] = set(range(1, text.count("\n") + 2))
    return {file: frozenset(lines) for file, lines in found.items()}


def _top(path: Path) -> Path:
    folder = path.resolve() if path.is_dir() else path.resolve().parent
    return Path(_git(folder, "rev-parse", "--show-toplevel").strip())


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise NoDiff(f"--diff needs git: {error}") from error
    if done.returncode:
        raise NoDiff(
            f"git {words[0]}: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'failed'}"
        )
    return done.stdout
