"""Holds a document against the case: a sentence that cites nothing, or more than what it cites says, is a problem.

This compares; it does not understand. A sentence can be true in all that can be compared and still mislead, which is
why a verdict is a structured proposal (`propose_verdict`) and a hypothesis a structured claim (`test_hypothesis`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rankandfile.agent.bench import Bench
from rankandfile.agent.result import Result, who
from rankandfile.render.words import plain

from . import tokens
from .parse import CitedSentence, Heading, Quote, parts
from .support import Support, support

_BLAME = re.compile(
    r"\b(?:culprits?|blamed?|guilty|at fault|fault of|responsible|root cause|caused|causes|to blame)\b",
    re.IGNORECASE,
)
_EXCUSE = re.compile(
    r"\b(?:victims?|innocent|not (?:be )?(?:blamed|guilty|a culprit)|only waits?)\b", re.IGNORECASE
)
_DENIAL = re.compile(
    r"\b(?:not|no|nobody|never|none|neither|cannot|instead of|without)\b|n't\b", re.IGNORECASE
)
_LOCATED = re.compile(r"(?:\w+\s+)?([\w./-]+\.py):(\d+)(?:-(\d+))?$")
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@")


class Problem(NamedTuple):
    line: int
    """Of the document."""
    words: str
    """The sentence or quote."""
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}: {self.words}"


def check(document: str, bench: Bench, results: Mapping[str, Result] | None = None) -> list[Problem]:
    """What of the document is not supported; `results` are the answers that it may cite, by step id."""
    answers = dict(results or {})
    known: dict[tuple[str, ...], Support] = {}
    problems: list[Problem] = []
    for part in parts(document):
        if isinstance(part, Quote):
            problems += [Problem(part.line, part.info or "code", what) for what in _quote(bench, part)]
        elif isinstance(part, Heading):
            if re.search(r"\d|`", part.words) or _BLAME.search(part.words):
                problems.append(Problem(part.line, part.words, "a heading that claims something"))
        elif not part.ids:
            problems.append(Problem(part.line, part.words, "cites nothing"))
        else:
            if part.ids not in known:
                known[part.ids] = support(bench, part.ids, answers)
            problems += [
                Problem(part.line, part.words, what) for what in _claim(bench, part, known[part.ids])
            ]
    return problems


def _claim(bench: Bench, claim: CitedSentence, said: Support) -> Iterator[str]:
    words = claim.words
    if said.unknown:
        yield f"there is no evidence {', '.join(said.unknown)}"
    ranks = tokens.ranks_in(words)
    if ranks - said.ranks:
        yield f"what it cites does not speak of {who(ranks - said.ranks)}"
    for spelled in tokens.spelled_ranks(words):
        yield f"'{spelled}': a rank is written as a number"
    places = tokens.places_in(words) - said.places
    if places:
        yield f"what it cites does not name {', '.join(f'{file}:{line}' for file, line in sorted(places))}"
    files = {file for file in tokens.files_in(words) if file not in said.text}
    if files and not places:
        yield f"what it cites does not name {', '.join(sorted(files))}"
    numbers = (
        tokens.loose_numbers(words) - said.numbers - {str(rank) for rank in said.ranks} - {str(len(ranks))}
    )
    if numbers:
        yield f"what it cites does not have {', '.join(sorted(numbers))}"
    text = " ".join(said.text.split())
    for code in tokens.code_in(words):
        if code not in text:
            yield f"what it cites does not read `{code}`"
    lowered = text.lower()
    names = {name for name in tokens.names_in(words) if name not in lowered}
    if names:
        yield f"what it cites does not say {', '.join(sorted(names))}"
    plain = tokens.plain_ops(text)
    ops = {op for op in tokens.ops_in(words) if op not in plain}
    if ops:
        yield f"what it cites has no {', '.join(sorted(ops))}"
    yield from _blame(bench, words, ranks, said)


def _blame(bench: Bench, words: str, ranks: set[int], said: Support) -> Iterator[str]:
    """Blame is the verdict's: a sentence can only repeat it."""
    culprits = bench.culprits | said.blamed
    accused = tokens.accused_in(words) - culprits
    if accused:
        yield f"no verdict blames {who(accused)}"
    elif _EXCUSE.search(words):
        if ranks and ranks <= culprits and not _BLAME.search(_EXCUSE.sub("", words)):
            yield f"no verdict excuses {who(ranks)}"
    elif _BLAME.search(words) and not _DENIAL.search(words) and ranks and not ranks & culprits:
        yield f"no verdict blames {who(ranks)}"


def _quote(bench: Bench, quote: Quote) -> Iterator[str]:
    if quote.info == "diff":
        yield from _diff(bench, quote.text)
        return
    place = _LOCATED.match(quote.info)
    if place is None:
        yield "a code block that does not say where its lines are from"
        return
    lines = bench.source_lines(place[1])
    first = int(place[2])
    if lines is None:
        yield f"the source has no file {place[1]}"
        return
    for number, shown in enumerate(quote.text, first):
        real = lines[number - 1] if 1 <= number <= len(lines) else None
        if real is None or _shown(real) != shown.rstrip():
            yield f"line {number} of {place[1]} reads otherwise"
            return


def _shown(line: str) -> str:
    """A line of code as a document shows it: tabs as blanks, nothing that acts on the reader's screen."""
    return plain(line.replace("\t", "    ")).rstrip()


def _diff(bench: Bench, text: tuple[str, ...]) -> Iterator[str]:
    """The lines that a change takes away or leaves must be there."""
    lines: list[str] | None = None
    number = 0
    for shown in text:
        if shown.startswith("--- "):
            file = shown[4:].split("\t")[0].strip().removeprefix("a/")
            lines = bench.source_lines(file) if file != "/dev/null" else []
            if lines is None:
                yield f"the source has no file {file}"
                return
        elif hunk := _HUNK.match(shown):
            number = int(hunk[1])
        elif lines is not None and shown[:1] in ("-", " ") and number:
            if not 1 <= number <= len(lines) or _shown(lines[number - 1]) != shown[1:].rstrip():
                yield f"the diff does not fit: line {number} reads otherwise"
                return
            number += 1
