"""The claims of a document: its sentences with their citations, and its quotes of code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from rankandfile.agent.prose import CITATION, sentences, words_of

_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*(.*)$")
_MARKER = re.compile(r"^\s*(?:[-*+>]\s+|\d+[.)]\s+)*")
_HEADING = re.compile(r"^\s*#{1,6}\s+(.*)$")
_RULE = re.compile(r"^[\s|:=*_-]+$")


class CitedSentence(NamedTuple):
    line: int
    """In the document, from 1."""
    words: str
    ids: tuple[str, ...]


class Quote(NamedTuple):
    line: int
    info: str
    """What stands behind the fence: `python trainer.py:35-45`, or `diff`."""
    text: tuple[str, ...]


class Heading(NamedTuple):
    line: int
    words: str


def parts(document: str) -> Iterator[CitedSentence | Quote | Heading]:
    lines = document.splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence:
            end = at + 1
            while end < len(lines) and not _closes(lines[end], fence[1]):
                end += 1
            yield Quote(at + 1, fence[2].strip(), tuple(lines[at + 1 : end]))
            at = end + 1
            continue
        if heading := _HEADING.match(lines[at]):
            yield Heading(at + 1, words_of(heading[1]))
        elif not _RULE.match(lines[at]):
            yield from _claims(at + 1, _MARKER.sub("", lines[at], count=1))
        at += 1


def _closes(line: str, fence: str) -> bool:
    shown = line.strip()
    return shown.startswith(fence) and not shown.strip(fence[0])


def _claims(number: int, line: str) -> Iterator[CitedSentence]:
    start = 0
    for found in CITATION.finditer(line):
        if line[max(0, found.start() - 1)] == "`" or line[max(0, found.start() - 1)] == "\\":
            continue
        ids = tuple(re.split(r", ?", found[1]))
        *before, last = sentences(line[start : found.start()]) or [""]
        # One citation is that of one sentence: those before it have none.
        yield from (CitedSentence(number, words_of(one), ()) for one in before)
        if last.strip(" ."):
            yield CitedSentence(number, words_of(last), ids)
        start = found.end()
    rest = line[start:].strip(" .")
    yield from (CitedSentence(number, words_of(one), ()) for one in sentences(rest) if re.search(r"\w", one))
