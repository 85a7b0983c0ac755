"""What each heuristic is worth: every incident answered once more without it, where it has a say."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

import msgspec

from rankandfile.lab.blind.found.case import EVIDENCE, FoundTruth
from rankandfile.lab.blind.found.marks import marked as found_marked
from rankandfile.lab.blind.found.reveal import OPENED
from rankandfile.lab.blind.found.scoring import printed
from rankandfile.lab.blind.marks import marked as blind_marked
from rankandfile.lab.blind.sealed import SealedCase, is_sealed
from rankandfile.lab.blind.sealed import read as read_sealed
from rankandfile.lab.diagnosed import diagnosed
from rankandfile.model.diagnosis import to_json
from rankandfile.model.heuristics import HEURISTICS, Heuristic, heard, switched_off

from .analysers import OURS
from .answer import Answer, from_diagnosis
from .corpus import incidents as with_programs
from .corpus import marked, of_each, was_looked_at
from .page import replaced, wrong_in

BEGIN, END = "<!-- heuristics: begin -->", "<!-- heuristics: end -->"
#: Marks whose losses and gains the table counts.
COUNTED = ("culprits", "cause", "line")


class Judged(msgspec.Struct, kw_only=True):
    """What is counted of one answer, whether the incident has a program or is evidence that somebody found."""

    right: bool
    culprits: bool
    cause: bool
    line: bool
    innocents: bool
    """Somebody innocent is blamed."""


class Change(msgspec.Struct, kw_only=True):
    """An incident whose answer is another one without the heuristic."""

    heuristic: str
    incident: str
    on: Judged
    off: Judged


class Asked(msgspec.Struct, kw_only=True):
    """One incident: the heuristics that had a say in its answer, and what came of switching off each."""

    heard: list[str]
    changes: list[Change]


class HeuristicWorth(msgspec.Struct, kw_only=True):
    """One heuristic over all incidents. Losses and gains are of switching it off: a loss speaks for it."""

    heuristic: str
    meaning: str
    heard: int
    """Incidents in which it had a say."""
    changed: int
    """Incidents whose answer is another one without it."""
    right_to_wrong: int
    wrong_to_right: int
    lost: dict[str, int]
    gained: dict[str, int]
    innocents_lost: int
    """Incidents in which somebody innocent is blamed only without it."""
    innocents_gained: int
    """Incidents in which somebody innocent is blamed only with it."""
    incidents: list[str]


def heuristics() -> list[Heuristic]:
    """All that the analysis marks, by name."""
    for room in ("evidence", "reason", "source"):
        package = importlib.import_module(f"rankandfile.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    return sorted(HEURISTICS.values(), key=lambda one: one.name)


def incidents(sets: Sequence[Path]) -> list[Path]:
    """Those with a truth that `raf lab score` reads, and opened folders of found evidence."""
    found = {file.parent for folder in sets for file in folder.glob(f"*/{OPENED}")}
    return sorted({*with_programs(sets), *found})


def ablate(
    analyser: str,
    found: Sequence[Path],
    rules: Sequence[Heuristic],
    *,
    jobs: int = 1,
    on_done: Callable[[], None] | None = None,
) -> list[HeuristicWorth]:
    """A row for each of the rules, over the incidents that left what the analyser (one of `OURS`) looks at."""
    names = frozenset(rule.name for rule in rules)
    asked = of_each(partial(_asked, analyser, names), found, jobs, on_done=on_done)
    return [_row(rule, asked) for rule in rules]


def _asked(analyser: str, names: frozenset[str], incident: Path) -> Asked:
    if (incident / OPENED).is_file():
        judged = partial(_found, incident)
    elif not OURS[analyser].paths(incident):
        return Asked(heard=[], changes=[])
    else:
        judged = partial(_blind if is_sealed(incident.parent) else _incident, analyser, incident)
    with heard() as had_a_say:
        on, before = judged()
    changes = []
    for name in sorted(had_a_say & names):
        with switched_off(name):
            off, after = judged()
        if after != before:
            changes.append(Change(heuristic=name, incident=incident.name, on=on, off=off))
    return Asked(heard=sorted(had_a_say & names), changes=changes)


def _incident(analyser: str, incident: Path) -> tuple[Judged, bytes]:
    """The marks of the answer, and all of it."""
    given = OURS[analyser]
    documents = [b""]

    def analyse(incident: Path) -> Answer:
        diagnosis = diagnosed(given.paths(incident), given.src(incident))
        documents.append(to_json(diagnosis))
        return from_diagnosis(diagnosis)

    marks = marked(analyser, incident, analyse)
    judged = Judged(
        right=not wrong_in(marks, given.source, given.folders == ("logs",)),
        culprits=marks.culprits_right is True,
        cause=marks.cause_right is True,
        line=marks.condition_right is True,
        innocents=bool(marks.innocents_blamed),
    )
    return judged, documents[-1]


def _blind(analyser: str, incident: Path) -> tuple[Judged, bytes]:
    """A case of an opened blind set, marked as it was at first contact: other lines may be as good as the truth's."""
    given = OURS[analyser]
    said = diagnosed(given.paths(incident), given.src(incident))
    marks = blind_marked(
        incident.name,
        "",
        analyser,
        _truths(incident.parent)[incident.name],
        said,
        dumps_only=given.folders == ("dumps",),
        looked=was_looked_at(incident),
        seconds=0.0,
    )
    asked = [marks.hang, marks.culprits, marks.nobody, marks.cause, *([marks.line] if given.source else [])]
    judged = Judged(
        right=False not in asked and not marks.innocents,
        culprits=marks.culprits is True,
        cause=marks.cause is True,
        line=marks.line is True,
        innocents=bool(marks.innocents),
    )
    return judged, to_json(said)


@lru_cache(maxsize=2)
def _truths(folder: Path) -> dict[str, SealedCase]:
    """Kept, as reading them goes through every file of the set."""
    return read_sealed(folder).content.cases


def _found(incident: Path) -> tuple[Judged, bytes]:
    """Of evidence without a program: right is also what is right in part."""
    truth = msgspec.json.decode((incident / OPENED).read_bytes(), type=FoundTruth)
    said = diagnosed([incident / EVIDENCE])
    document, words = to_json(said), printed(said)
    marks = found_marked(incident.name, truth, said, words, f"{words}\n{document.decode()}", 0.0)
    judged = Judged(
        right=marks.mark in ("right", "partly"),
        culprits=marks.culprits is True,
        cause=marks.cause is True,
        line=marks.line is True,
        innocents=bool(marks.innocents),
    )
    return judged, document


def _row(rule: Heuristic, asked: Sequence[Asked]) -> HeuristicWorth:
    changes = [change for one in asked for change in one.changes if change.heuristic == rule.name]
    turned, blamed, *counted = (
        [(getattr(change.on, mark), getattr(change.off, mark)) for change in changes]
        for mark in ("right", "innocents", *COUNTED)
    )
    marks = dict(zip(COUNTED, counted, strict=True))
    return HeuristicWorth(
        heuristic=rule.name,
        meaning=rule.meaning,
        heard=sum(rule.name in one.heard for one in asked),
        changed=len(changes),
        right_to_wrong=turned.count((True, False)),
        wrong_to_right=turned.count((False, True)),
        lost={word: pairs.count((True, False)) for word, pairs in marks.items()},
        gained={word: pairs.count((False, True)) for word, pairs in marks.items()},
        innocents_lost=blamed.count((False, True)),
        innocents_gained=blamed.count((True, False)),
        incidents=[change.incident for change in changes],
    )


def table(rows: Sequence[HeuristicWorth]) -> Iterator[dict[str, object]]:
    """What switching off each does, for a person to read: of those that had a say, the most telling first."""
    for row in sorted(rows, key=lambda row: (-row.right_to_wrong - row.wrong_to_right, -row.changed)):
        if not row.heard:
            continue
        yield {
            "heuristic": row.heuristic,
            "what it is": row.meaning,
            "had a say": row.heard,
            "answers changed": row.changed,
            "right to wrong": row.right_to_wrong,
            "wrong to right": row.wrong_to_right,
            **{word: _balance(row.lost[word], row.gained[word]) for word in COUNTED},
            "innocents blamed": _balance(row.innocents_gained, row.innocents_lost),
        }


def _balance(fewer: int, more: int) -> str:
    """3 lost and 1 gained as "-3 +1"."""
    return " ".join(word for count, word in ((fewer, f"-{fewer}"), (more, f"+{more}")) if count)


def write_page(page: Path, rows: Sequence[HeuristicWorth], over: str) -> None:
    """Replace the block between the page's markers; without markers, append it. `over`: what was looked at."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    page.write_text(replaced(text, BEGIN, END, _lines(rows, over)), encoding="utf-8")


def _lines(rows: Sequence[HeuristicWorth], over: str) -> Iterator[str]:
    shown = list(table(rows))
    yield f"Over {over}:"
    yield ""
    if shown:
        yield f"| {' | '.join(shown[0])} |"
        yield f"| {' | '.join('---' for _ in shown[0])} |"
    for row in shown:
        yield "| " + " | ".join(str(value).replace("|", "\\|") for value in row.values()) + " |"
    yield ""
    yield f"No say here: {', '.join(row.heuristic for row in rows if not row.heard) or 'none'}."
