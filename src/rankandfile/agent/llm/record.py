"""The conversation as it is had, message by message, on this machine: to be audited, and to be gone on with."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from pydantic import ValidationError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

SCHEMA = "rankandfile.conversation/1"


class Unreadable(ValueError):
    """There is no conversation to go on with; the text says why."""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The first line."""

    schema: str = SCHEMA
    model: str
    draft: str
    """Digest of the draft: the same evidence and source, read by the same rules."""
    redaction_key: str | None = None
    """With it, the same names get the same pseudonyms. It never leaves the machine."""


@dataclass
class Record:
    path: Path | None
    """None: nothing is kept."""

    def begin(self, head: Head) -> None:
        if self.path is not None:
            # It holds what was asked of the case, and the key of the pseudonyms.
            with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(msgspec.json.encode(head) + b"\n")

    def add(self, message: ModelMessage) -> None:
        if self.path is not None:
            with self.path.open("ab") as file:
                file.write(ModelMessagesTypeAdapter.dump_json([message]) + b"\n")


def digest(draft: str) -> str:
    return f"sha256:{hashlib.sha256(draft.encode('utf-8', 'replace')).hexdigest()}"


def read(path: Path) -> tuple[Head, list[ModelMessage]]:
    """Raises `Unreadable`. A last line that was not written whole is left out."""
    try:
        first, *lines = path.read_bytes().split(b"\n")
        head = msgspec.json.decode(first, type=Head)
    except FileNotFoundError:
        raise Unreadable(f"{path}: there is nothing to resume") from None
    except (OSError, msgspec.DecodeError) as error:
        raise Unreadable(f"{path}: {error}") from error
    if head.schema != SCHEMA:
        raise Unreadable(f"{path}: '{head.schema[:80]}' is not {SCHEMA}")
    messages: list[ModelMessage] = []
    for line in lines:
        try:
            messages += ModelMessagesTypeAdapter.validate_json(line) if line else []
        except ValidationError:
            break
    return head, messages


def rewrite(record: Record, head: Head, messages: Sequence[ModelMessage]) -> None:
    """The conversation as far as it went, without a torn last line: whole, or not at all."""
    if record.path is None:
        return
    fresh = Record(record.path.with_name(f".{record.path.name}"))
    fresh.begin(head)
    for message in messages:
        fresh.add(message)
    assert fresh.path is not None
    fresh.path.replace(record.path)
