"""The verdict on one screen: what, who, where, why, what to do and what not to do.

It holds as text alone: colour and symbols only repeat what the words say. Where all of it would not fit, the least
important goes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from rankandfile.model.diagnosis import Cohort, Diagnosis, Wait
from rankandfile.model.ledger import DISAGREE, Note
from rankandfile.model.ranks import format_ranks, parse_ranks

from .source import draw, shortened
from .words import (
    PLAIN,
    UNICODE,
    Signs,
    call_text,
    culprit_ranks,
    headline,
    job_size,
    place_text,
    plain,
    ranks_named,
    short,
)

WIDTH, HEIGHT = 100, 40
_NARROW = 72
_NARROW_HEIGHT = 64
_LABEL = 8
_MOST_RANKS_OF_A_COHORT = 28
_LONG = 4000

_STYLE = {"established": "bold red", "supported": "bold yellow", "hypothesis": "bold yellow"}
_MEANS = {
    "established": "it follows from the records",
    "supported": "the evidence agrees, another cause remains possible",
    "hypothesis": "it fits the evidence, and is not proved",
}

#: Process gone: where the rank's calls end, nothing else will come.
_GONE = {"raised", "killed", "exited", "early_exit", "peer_unreachable"}


@dataclass(frozen=True)
class Room:
    """How much of each part is shown; the first that fits is taken."""

    others: int = 3
    culprits: int = 4
    cohorts: int = 5
    waits: int = 3
    advice: int = 3
    probes: int = 2
    alternatives: int = 2
    missing: int = 2
    proofs: int = 4
    quote_lines: int = 2
    excerpt: int = 14


_ROOMS = (
    Room(),
    Room(proofs=3, quote_lines=1, waits=2, alternatives=2, missing=1, probes=1, excerpt=12),
    Room(others=2, proofs=2, quote_lines=1, waits=2, advice=2, alternatives=1, missing=1, probes=1, excerpt=10),
    Room(others=1, proofs=1, quote_lines=1, waits=1, advice=2, alternatives=1, missing=1, probes=0, excerpt=8),
    Room(others=1, culprits=2, cohorts=3, proofs=1, quote_lines=1, waits=1, advice=1, alternatives=0, missing=1,
         probes=0, excerpt=6),
)  # fmt: skip


def card(
    diagnosis: Diagnosis, signs: Signs = UNICODE, width: int = WIDTH, height: int | None = None
) -> RenderableType:
    """The best verdict in full, as far as it fits; others in a line each."""
    if not diagnosis.verdicts:
        return Text("no verdict")
    if height is None:
        height = HEIGHT if width >= _NARROW else _NARROW_HEIGHT
    made = _Card(diagnosis, signs, width)
    for room in _ROOMS:
        found = made.whole(room)
        if _height(found, width) <= height:
            break
    return found


def _height(found: RenderableType, width: int) -> int:
    measure = Console(width=width, color_system=None, legacy_windows=False)
    return len(measure.render_lines(found, pad=False))


class _Card:
    def __init__(self, diagnosis: Diagnosis, signs: Signs, width: int) -> None:
        self.diagnosis, self.signs, self.room = diagnosis, signs, _ROOMS[0]
        self.verdict = diagnosis.verdicts[0]
        self.width = max(20, width - _LABEL - 1)

    def whole(self, room: Room) -> RenderableType:
        self.room = room
        rows = Table.grid(padding=(0, 1, 0, 0))
        rows.add_column(style="bold", no_wrap=True, width=_LABEL)
        rows.add_column(overflow="fold", ratio=1)
        for label, lines in self._rows():
            for number, line in enumerate(lines):
                rows.add_row(label if number == 0 else "", line)
        return Group(*self._head(), Text(), rows)

    def _text(self, *words: str, style: str = "") -> Text:
        said = plain("".join(words))
        if self.signs is PLAIN:
            said = said.translate(_ASCII)
        return Text(said, style=style)

    def _head(self) -> Iterator[Text]:
        verdict = self.verdict
        style = "bold green" if verdict.cause == "no_hang" else _STYLE[verdict.confidence]
        yield Text.assemble(
            (headline(verdict, self.signs), style), *((part, "bold") for part in self._who_and_where())
        )
        sure = (
            f"{verdict.confidence}: {_MEANS[verdict.confidence]} {self.signs.dot} {job_size(self.diagnosis)}"
        )
        yield self._text(sure, style="dim")
        yield self._text(verdict.sentence)

    @cached_property
    def _who(self) -> str:
        return ranks_named(culprit_ranks(self.verdict), self.signs)

    @cached_property
    def _victims(self) -> int:
        return len(parse_ranks(self.verdict.victims))

    def _who_and_where(self) -> Iterator[str]:
        verdict, dot = self.verdict, f" {self.signs.dot} "
        if verdict.culprits and verdict.cause != "undetermined":
            yield dot + self._who
        where = verdict.location
        if where is not None and verdict.hang:
            name = where.file.replace("\\", "/").rsplit("/", 1)[-1]
            yield dot + plain(place_text(name, where.condition_line or where.line))

    def _rows(self) -> Iterator[tuple[str, Sequence[RenderableType]]]:
        verdict, room = self.verdict, self.room
        if verdict.culprits:
            yield "culprit", self._culprits()
        if verdict.victims:
            count = f"  ({self._victims:,} ranks)" if self._victims > 1 else ""
            yield "victims", [self._text(short(verdict.victims, self.signs), count)]
        if verdict.location is not None:
            yield "where", self._location()
        for excerpt in verdict.excerpts[:1]:
            yield "code", list(draw(shortened(excerpt, room.excerpt, self.width - 16), self.signs))
        if verdict.location is not None and verdict.location.why_it_can_differ:
            yield "why", [self._text(verdict.location.why_it_can_differ)]
        if verdict.divergence is not None:
            yield "parted", self._parted()
        if verdict.waits and room.waits:
            yield "waits", self._waits()
        yield from self._advice()
        if verdict.evidence:
            yield "proof", self._proofs()
        others = self.diagnosis.verdicts[1:]
        if others:
            lines = [self._text(f"{other.cause}: {other.sentence}") for other in others[: room.others]]
            yield "also", [*lines, *self._more(len(others) - room.others, "verdicts")]
        for label, notes in self._notes():
            first, *rest = notes
            yield label, [self._cut(str(first)), *self._more(len(rest), "notes")]

    def _notes(self) -> Iterator[tuple[str, list[Note]]]:
        against = [note for note in self.diagnosis.notes if note.where == DISAGREE]
        others = [note for note in self.diagnosis.notes if note.where != DISAGREE]
        if against:
            yield "against", against
        if others:
            yield "unread", others

    def _advice(self) -> Iterator[tuple[str, list[Text]]]:
        verdict, room = self.verdict, self.room
        if verdict.remedies:
            lines = [self._text(f"{one.title}: {one.text}") for one in verdict.remedies[: room.advice]]
            if any(one.diff for one in verdict.remedies):
                lines.append(self._text("`raf fix` shows the change as a patch."))
            yield "do", lines
        if verdict.anti_advice:
            yield "do not", [self._text(_without_do_not(line)) for line in verdict.anti_advice[: room.advice]]
        if verdict.probes and room.probes:
            yield "confirm", [self._text(f"{one.title}: {one.text}") for one in verdict.probes[: room.probes]]
        if verdict.alternatives and room.alternatives:
            shown = verdict.alternatives[: room.alternatives]
            yield (
                "or else",
                [self._text(_alternative(one.cause, one.sentence, one.decided_by)) for one in shown],
            )
        if verdict.missing_evidence and room.missing:
            shown_missing = verdict.missing_evidence[: room.missing]
            yield "missing", [self._text(f"{one.what} ({one.how})") for one in shown_missing]

    def _culprits(self) -> list[Text]:
        """Those that did the same on one host in one line."""
        alike: dict[tuple[str, str], list[int]] = {}
        for one in self.verdict.culprits:
            alike.setdefault((one.host or "", one.doing or ""), []).append(one.rank)
        lines = []
        for (host, doing), ranks in list(alike.items())[: self.room.culprits]:
            who = ranks_named(format_ranks(ranks), self.signs)
            lines.append(
                self._text(who, f" on {host}" if host else "", f": {doing}" if doing else "", style="bold")
            )
        return [*lines, *self._more(len(alike) - self.room.culprits, "kinds of culprits")]

    def _location(self) -> list[Text]:
        where = self.verdict.location
        assert where is not None
        lines = [
            self._text(place_text(where.file, where.line), f" in {where.function}" if where.function else "")
        ]
        if where.condition and not self.verdict.excerpts:
            lines.append(self._text(f"line {where.condition_line or where.line}: {where.condition}"))
        return lines

    def _parted(self) -> list[Text]:
        parted = self.verdict.divergence
        assert parted is not None
        number = "" if parted.seq is None else f" #{parted.seq}"
        bound = "" if parted.exact else ", at the latest: earlier calls are lost"
        place = f", in {parted.place}" if parted.place else ""
        lines = [self._text(f"group {parted.group}{number}{place}{bound}")]
        shown = parted.cohorts[: self.room.cohorts]
        names = [short(cohort.ranks, self.signs, _MOST_RANKS_OF_A_COHORT) for cohort in shown]
        widest = max((len(name) for name in names), default=0)
        for name, cohort in zip(names, shown, strict=True):
            lines.append(self._text(f"{name:<{widest}} {self.signs.then} {self._came_to(cohort)}"))
        return [*lines, *self._more(len(parted.cohorts) - len(shown), "cohorts")]

    def _came_to(self, cohort: Cohort) -> str:
        parted = self.verdict.divergence
        if cohort.call is not None or parted is None or parted.kind != "absent":
            return call_text(cohort.call)
        gone = self.verdict.cause in _GONE
        if parted.seq is None:
            return "gone" if gone else "not there"
        if parted.seq <= 1:
            return "gone before it" if gone else "never came to it"
        return f"gone after #{parted.seq - 1}" if gone else f"not there, after #{parted.seq - 1}"

    def _waits(self) -> list[Text]:
        waits = self.verdict.waits
        lines = [self._cut(self._wait(wait), 2) for wait in waits[: self.room.waits]]
        return [*lines, *self._more(len(waits) - self.room.waits, "waits")]

    def _wait(self, wait: Wait) -> str:
        number = "" if wait.seq is None else f" #{wait.seq}"
        call = f"{wait.op or 'call'}{number} of {wait.group}"
        # Who is behind by a call may sit in this one too, and yet be the one that the others wait for.
        waiting = _without(wait.ranks, wait.waits_for)
        who = short(waiting or wait.ranks, self.signs, _MOST_RANKS_OF_A_COHORT)
        if not wait.waits_for:
            return f"{who} in {call}"
        if not waiting:
            return f"{who} behind earlier calls of their own, in {call}"
        return f"{who} {self.signs.waits_for} {short(wait.waits_for, self.signs, _MOST_RANKS_OF_A_COHORT)} in {call}"

    def _proofs(self) -> list[Text]:
        quotes = {item.id: item for item in self.diagnosis.evidence}
        cited = [quotes[one] for one in self.verdict.evidence if one in quotes]
        lines = [
            self._cut(f"{item.id}: {item.quote}", self.room.quote_lines, "dim")
            for item in cited[: self.room.proofs]
        ]
        return [*lines, *self._more(len(cited) - self.room.proofs, "facts; `raf show evidence` has them all")]

    def _cut(self, words: str, lines: int = 1, style: str = "") -> Text:
        words = plain(words)
        # Words are not broken: the lines before the last are not full. As much for both kinds of signs.
        most = lines * self.width - len(PLAIN.more) - (lines - 1) * 12
        return self._text(words if len(words) <= most else words[:most] + self.signs.more, style=style)

    def _more(self, left_out: int, what: str) -> list[Text]:
        return [self._text(f"and {left_out:,} more {what}", style="dim")] if left_out > 0 else []


def _without(ranks: str, others: str) -> str:
    if ranks == others or max(len(ranks), len(others)) > _LONG:
        return "" if ranks == others else ranks
    return format_ranks(set(parse_ranks(ranks)) - set(parse_ranks(others)))


def _without_do_not(line: str) -> str:
    """The label has said it already."""
    rest = line.removeprefix("Do not ")
    return rest[:1].lower() + rest[1:] if rest != line and not rest[:2].isupper() else line


def _alternative(cause: str, sentence: str, decided_by: str | None) -> str:
    return f"{cause}: {sentence}" + (f" Decided by: {decided_by.rstrip('.?')}." if decided_by else "")


_ASCII = str.maketrans(
    {"←": "<-", "→": "->", "▸": ">", "·": "-", "…": "...", "“": '"', "”": '"', "’": "'", "–": "-"}
)
