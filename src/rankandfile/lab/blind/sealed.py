"""The sealed truths of a set: one file that nobody reads by accident, and that shows what was changed since.

The checksum is that of the truths and of a list of all other files of the set, with the checksum of each. So one
number stands for the whole set: the programs, the evidence, the authors' words and the truths.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import textwrap
import zlib
from pathlib import Path

import msgspec

from rankandfile.lab.truth import LocationTruth, Truth
from rankandfile.model.errors import UserError

from . import case as cases
from .found.case import EVIDENCE, FoundTruth

FILE = "truths.sealed"
_HEAD = "Sealed truths of a blind set (raf lab blind reveal). Do not open before it is scored.\n"
#: What scoring and revealing put beside the cases.
_LATER = {"truth.toml", "truth.json", "calls.jsonl"}


class SealedCase(msgspec.Struct, kw_only=True):
    truth: Truth
    accepted: list[LocationTruth]
    """Lines that are as good as the truth's own."""
    calls: str
    """The log of calls that proved the truth."""


class Sealed(msgspec.Struct, kw_only=True):
    cases: dict[str, SealedCase]
    found: dict[str, FoundTruth] = {}
    """Of a set of found evidence, in place of cases."""
    files: dict[str, str]
    """Every other file of the set, with its checksum."""


class Seal(msgspec.Struct, frozen=True):
    checksum: str
    content: Sealed


def write(
    folder: Path, truths: dict[str, SealedCase] | None = None, found: dict[str, FoundTruth] | None = None
) -> str:
    """Seal these truths; returns the checksum."""
    content = Sealed(cases=truths or {}, found=found or {}, files=_files(folder))
    payload = msgspec.json.encode(content, order="deterministic")
    checksum = hashlib.sha256(payload).hexdigest()
    body = textwrap.fill(base64.b64encode(zlib.compress(payload, 9)).decode(), 100)
    (folder / FILE).write_text(f"{_HEAD}sha256 {checksum}\n\n{body}\n", encoding="utf-8")
    return checksum


def is_sealed(folder: Path) -> bool:
    return (folder / FILE).is_file()


def read(folder: Path) -> Seal:
    """The truths as they were sealed. Raises `UserError` where anything of the set was changed since."""
    if not is_sealed(folder):
        raise UserError(f"{folder} is not sealed: raf lab blind seal {folder}")
    head, _, body = (folder / FILE).read_text(encoding="utf-8").partition("\n\n")
    stated = head.rpartition("sha256 ")[2].strip()
    try:
        payload = zlib.decompress(base64.b64decode("".join(body.split()), validate=True))
    except (binascii.Error, ValueError, zlib.error) as error:
        raise UserError(f"{folder / FILE} is damaged: {error}") from error
    if hashlib.sha256(payload).hexdigest() != stated:
        raise UserError(f"{folder / FILE} was changed: its checksum is not {stated[:12]}")
    content = msgspec.json.decode(payload, type=Sealed)
    if changed := _changed(content.files, _files(folder)):
        raise UserError(f"{folder} was changed since it was sealed: {', '.join(changed[:5])}")
    return Seal(stated, content)


def _changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))


def _files(folder: Path) -> dict[str, str]:
    """What belongs to the set as its author made it."""
    folders = {file.parent for word in (cases.CASE, EVIDENCE) for file in folder.glob(f"*/{word}")}
    found = [path for one in folders for path in one.rglob("*") if "__pycache__" not in path.parts]
    own = [path for path in found if path.is_file() and not (path.parent in folders and path.name in _LATER)]
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted([folder / cases.SET, *own])
    }
