"""Which torch a job gets, by the files that pin it: the image it is built from, requirements, a lock file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .launchers import torch_release
from .plain import MOST_BYTES, plain

#: Names of such files, most telling first: what a lock says is installed, a requirement may be a bound.
NAMES = re.compile(
    r"(?:uv|poetry|pdm|pixi|conda-lock)\.(?:lock|yml)|Pipfile\.lock|(?:.*\.)?[Dd]ockerfile(?:\..*)?|Containerfile"
    r"|.*\.def|requirements.*\.txt|environment.*\.ya?ml"
)
_FROM = re.compile(r"^\s*(?:FROM|From:)\s+(?:--\S+\s+)*(\S+)", re.MULTILINE)
_PINNED = (
    # `torch==2.4.1`, `pytorch=2.4.1=py3.11_cuda`, and a bare `torch 2.4.1` of conda.
    re.compile(r"^[ \t-]*['\"]?(?:py)?torch\s*={1,3}\s*(\d+\.\d+[^\s=;,'\"]*)", re.MULTILINE),
    re.compile(r"\bpip3? install\b[^\n]*?[\s'\"]torch==(\d+\.\d+[^\s;,'\"]*)"),
    # uv.lock, poetry.lock, pdm.lock; Pipfile.lock.
    re.compile(r"^name = \"torch\"\s*\nversion = \"(\d+\.\d+[^\"]*)\"", re.MULTILINE),
    re.compile(r"\"torch\": \{[^{}]*\"version\": \"==(\d+\.\d+[^\"]*)\"", re.DOTALL),
    re.compile(r"^[ -]*name: (?:py)?torch\s*\n\s*version: ['\"]?(\d+\.\d+[^\s'\"]*)", re.MULTILINE),
)
_ORDER = ("lock", "ockerfile", "ontainerfile", ".def")


def release_in(text: str, name: str) -> tuple[str | None, str] | None:
    """The release, and what tells it; None, and the image, where that has a torch and does not tell which."""
    for pinned in _PINNED:
        if found := pinned.search(text):
            return found[1], f"pinned in {name}"
    # The last stage is what runs.
    images = [release for image in _FROM.findall(text) if (release := torch_release(image)) is not None]
    return (images[-1][0], f"{images[-1][1]} in {name}") if images else None


def near(path: Path) -> tuple[str | None, str] | None:
    """What pins it beside this file, or in a folder above it up to the top of its repository."""
    here, image = path.resolve().parent, None
    for folder in (here, *here.parents):
        for file in sorted(_pins(folder), key=_rank):
            found = read(file)
            if found is not None and found[0] is not None:
                return found
            image = image or found
        if (folder / ".git").exists():
            break
        if not any((one / ".git").exists() for one in folder.parents):
            break
    return image


def read(path: Path) -> tuple[str | None, str] | None:
    try:
        with path.open("rb") as file:
            return release_in(plain(file.read(MOST_BYTES)), path.name)
    except OSError:
        return None


def _pins(folder: Path) -> Iterator[Path]:
    try:
        yield from (one for one in folder.iterdir() if NAMES.fullmatch(one.name) and one.is_file())
    except OSError:
        return


def _rank(path: Path) -> tuple[int, str]:
    return next((place for place, word in enumerate(_ORDER) if word in path.name), len(_ORDER)), path.name
