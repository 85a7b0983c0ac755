"""Sources as a commit has them, read from the repository without checking anything out.

git runs without a shell, with a deadline, and with what a hostile repository could make it start switched off: no
hooks, no file system monitor, no fetching of missing objects. `cat-file` applies no filters. One wrong value in a
repository's configuration stops git: where it has no answer, it is asked once more without that.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rankandfile.model.errors import UserError

from .plain_repository import without_configuration
from .roots import MAX_FILES
from .text import MAX_BYTES

_DEADLINE_S = 30.0
_MAX_LISTING = 64 << 20
#: What a repository's own configuration could say otherwise: programs that git starts, files that it must find, and
#: how its answers look.
_OURS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.alternateRefsCommand": "",
    "protocol.allow": "never",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.x509.program": "false",
    "log.showSignature": "false",
    "log.follow": "false",
    "log.mailmap": "false",
    "mailmap.file": "",
    "mailmap.blob": "",
    "blame.coloring": "none",
    "blame.showEmail": "false",
    "blame.blankBoundary": "false",
    "blame.showRoot": "false",
    "color.ui": "false",
    "core.abbrev": "auto",
    "core.quotePath": "true",
    "i18n.logOutputEncoding": "UTF-8",
}
_SAFE = tuple(word for name, value in _OURS.items() for word in ("-c", f"{name}={value}"))
_BLOB = re.compile(rb"100(?:644|755) blob ([0-9a-f]{40,64}) +(\d+)\t(.+)", re.DOTALL)


class NoSuchCommit(UserError):
    """The folder is in no repository, or the repository has no such commit; one line says which."""


class Commit:
    """The Python files of a folder as they were in a commit."""

    def __init__(self, path: Path, revision: str) -> None:
        self.path = path
        self.name = path.resolve().name
        found = git(path, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        if found is None:
            why = refusal(path) or f"no commit '{revision}' there"
            raise NoSuchCommit(f"{path}: {why}")
        self.commit = found.decode("ascii", "replace").strip()
        listing = git(path, "ls-tree", "-r", "-z", "-l", self.commit, limit=_MAX_LISTING)
        if listing is None:
            raise NoSuchCommit(f"{path}: the files of commit '{revision}' cannot be listed")
        self._blobs = dict(_python_files(listing))

    def names(self) -> Iterator[str]:
        yield from sorted(self._blobs)

    def has(self, name: str, data: bytes) -> bool:
        """Whether its file of this name is these bytes."""
        blob = self._blobs.get(name, "")
        made = hashlib.sha256 if len(blob) > 40 else hashlib.sha1
        return made(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == blob

    def read(self, name: str) -> bytes | None:
        blob = self._blobs.get(name)
        return None if blob is None else git(self.path, "cat-file", "blob", blob, limit=MAX_BYTES)


def _python_files(listing: bytes) -> Iterator[tuple[str, str]]:
    found = 0
    for line in listing.split(b"\0"):
        match = _BLOB.fullmatch(line)
        if match is None or not match[3].endswith(b".py") or int(match[2]) > MAX_BYTES:
            continue
        found += 1
        if found > MAX_FILES:
            return
        yield match[3].decode("utf-8", "replace"), match[1].decode("ascii")


def refusal(path: Path, *words: str) -> str:
    """Why git answers nothing to this, or nothing at all about this folder; empty if it does answer."""
    command = ["git", "--no-pager", *_SAFE, *(words or ("rev-parse", "--git-dir"))]
    try:
        with without_configuration(path) as more:
            done = subprocess.run(
                command,
                cwd=path,
                env=_environment() | more,
                capture_output=True,
                timeout=_DEADLINE_S,
                check=False,
            )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"git cannot be run: {getattr(error, 'strerror', None) or type(error).__name__}"
    first = done.stderr.decode("utf-8", "replace").splitlines()[:1]
    said = "".join(letter for letter in "".join(first)[:200] if letter.isprintable())
    return "" if done.returncode == 0 else f"git says {said.removeprefix('fatal: ') or 'nothing'}"


def _environment() -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # Of a missing object a repository names a program that brings it, and older versions do not know the first.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


def git(path: Path, *words: str, limit: int = 1 << 16) -> bytes | None:
    """What git prints; None if it fails, takes too long, or prints more than that."""
    printed = _asked(path, words, limit, {})
    if printed is None:
        with suppress(OSError), without_configuration(path) as more:
            printed = _asked(path, words, limit, more) if more else None
    return printed


def _asked(path: Path, words: tuple[str, ...], limit: int, more: dict[str, str]) -> bytes | None:
    try:
        process = subprocess.Popen(
            ["git", "--no-pager", *_SAFE, *words],
            cwd=path,
            env=_environment() | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        return None
    with process:
        assert process.stdout is not None
        timer = threading.Timer(_DEADLINE_S, process.kill)
        timer.start()
        try:
            printed = process.stdout.read(limit + 1)
            if len(printed) > limit:
                process.kill()
            status = process.wait()
        finally:
            timer.cancel()
    return printed if status == 0 and len(printed) <= limit else None
