"""Sentences with their citations, as an investigation writes them down and as its check reads them back.

A sentence ends with what it rests on: `Rank 2 went on to the barrier. [D2#84, T6]`. An id is that of evidence, a step
of the journal (T6), or a place in the source (trainer.py:40).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rankandfile.render.markdown import code, text
from rankandfile.render.words import plain

ID = r"(?:D\d+(?:[#@]-?\d+)?|[LS]\d+:\d+|X\d+|T\d+|[\w./-]+\.py:\d+(?:-\d+)?)"
CITATION = re.compile(rf"\[({ID}(?:, ?{ID})*)\]")
#: Between two sentences; what stands in a code span is none.
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z`*_\"'(])")
_SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1(?!`)")


def sentences(words: str) -> list[str]:
    """The sentences of a paragraph."""
    hidden = _SPAN.sub(lambda found: "`" + "\x01" * (len(found[0]) - 2) + "`", words)
    starts = [0, *(found.end() for found in _END.finditer(hidden)), len(words)]
    return [part for a, b in pairwise(starts) if (part := words[a:b].strip())]


def cited(words: str, ids: Sequence[str]) -> str:
    """The words in Markdown, each sentence with its citation; what stands between backticks is code."""
    bracket = f"[{', '.join(dict.fromkeys(ids))}]"
    return " ".join(f"{markdown_of(one)} {bracket}" for one in sentences(plain(words)))


def markdown_of(words: str) -> str:
    parts = words.split("`")
    if len(parts) % 2 == 0:
        return text(words)
    shown = [code(part) if number % 2 else text(part) if part else "" for number, part in enumerate(parts)]
    # What would begin a list begins none behind a code span.
    return re.sub(r"`\\([-+=#.])", r"`\1", "".join(shown))


def words_of(markdown: str) -> str:
    """What a reader sees of a line of Markdown, code spans between single backticks."""
    shown = markdown.replace("<!-- -->", "")
    spans: list[str] = []

    def keep(found: re.Match[str]) -> str:
        inside = found[0].strip("`")
        spans.append(inside[1:-1] if inside[:1] == inside[-1:] == " " and inside.strip() else inside)
        return f"\x02{len(spans) - 1}\x02"

    shown = _SPAN.sub(keep, _protected(shown))
    shown = re.sub(r"\x03(.)", r"\1", shown).replace("\x04", "`")
    return re.sub(r"\x02(\d+)\x02", lambda found: f"`{spans[int(found[1])]}`".replace("\x03", "\\"), shown)


def _protected(markdown: str) -> str:
    """With every escaped character behind a mark of ours, so that an escaped backtick opens no span."""
    return re.sub(r"\\([\\*\[\]<>|~_+=#.()!{}-])", "\x03\\1", markdown.replace("\\`", "\x04"))
