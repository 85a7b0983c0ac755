"""Which code answered: its commit, whether it was changed since, and whether it is that which a set asks for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import msgspec

import rankandfile

PACKAGE = Path(rankandfile.__file__).parent
#: What has a say in an answer: the lab only asks.
_ANSWERS = (".", ":(exclude)lab", ":(exclude)cli")


class Code(msgspec.Struct, frozen=True, kw_only=True):
    commit: str
    """Empty where the package is not in a repository."""
    dirty: bool
    as_asked: bool
    """What answers is that of the commit asked for, whatever else was committed since: pages, the lab, the set."""


def code(asked: str = "HEAD") -> Code:
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return Code(commit="", dirty=False, as_asked=False)
    dirty = bool(_git("status", "--porcelain", "--", "."))
    same = _git("diff", "--name-only", asked, "HEAD", "--", *_ANSWERS) if _is_commit(asked) else None
    return Code(commit=commit, dirty=dirty, as_asked=same == "" and not dirty)


def _is_commit(word: str) -> bool:
    """A word with a dash in front would be an option."""
    return bool(_git("rev-parse", "--verify", "--end-of-options", f"{word}^{{commit}}"))


def _git(*words: str) -> str | None:
    """What git says of the package's folder; None where it refuses, or is not there."""
    try:
        done = subprocess.run(["git", *words], cwd=PACKAGE, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
