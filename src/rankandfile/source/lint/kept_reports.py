"""Reports kept between runs: where no file of a program has changed, and no option, neither has what is said of it.

In: the program, the options. Out: the report of before, if there is one. The key is a hash of every file's path and
content, of the options, and of the analyser itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from rankandfile.model.lint import LintReport
from rankandfile.source.files.tree import SourceTree

_OWN = Path(__file__).resolve().parents[1]
_MOST = 40
"""Reports that are kept; the oldest go."""


def key(tree: SourceTree, asked: Iterable[str], options: object) -> str:
    found = hashlib.sha256()
    for part in (str(Path.cwd()), repr(options), *sorted(asked), *_analyser()):
        found.update(part.encode("utf-8", "replace") + b"\0")
    for path in sorted(tree.paths()):
        text = tree.read(path) or ""
        found.update(f"{path}\0{len(text)}\0".encode("utf-8", "replace"))
        found.update(text.encode("utf-8", "replace"))
    return found.hexdigest()[:32]


def kept(key: str) -> LintReport | None:
    try:
        return msgspec.json.decode(_file(key).read_bytes(), type=LintReport)
    except (OSError, msgspec.MsgspecError):
        return None


def keep(key: str, report: LintReport) -> None:
    """A folder that cannot be written keeps nothing."""
    file = _file(key)
    new = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(msgspec.json.encode(report))
        new.replace(file)
        _forget_the_oldest(list(file.parent.glob("*.json")))
    except OSError:
        return


def _forget_the_oldest(files: Sequence[Path]) -> None:
    for file in sorted(files, key=lambda each: each.stat().st_mtime)[:-_MOST]:
        file.unlink(missing_ok=True)


def _file(key: str) -> Path:
    cache = os.environ.get("RAF_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "rankandfile" / "lint" / f"{key}.json"


def _analyser() -> Iterable[str]:
    """A file of the analyser that is another one says other things."""
    for file in sorted(_OWN.rglob("*.py")):
        about = file.stat()
        yield f"{file.name} {about.st_size} {about.st_mtime_ns}"
