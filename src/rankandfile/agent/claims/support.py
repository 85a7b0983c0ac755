"""What the ids of a citation say: their text, and the ranks, numbers and places in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from rankandfile.agent.bench import Bench
from rankandfile.agent.evidence_ranks import ranks_of_evidence
from rankandfile.agent.result import Result

from .tokens import numbers_in, places_in, ranks_in

_PLACE = re.compile(r"([\w./-]+\.py):(\d+)(?:-(\d+))?$")
_MOST_LINES = 400


@dataclass
class Support:
    text: str = ""
    ranks: set[int] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)
    places: set[tuple[str, int]] = field(default_factory=set)
    """Name of the file, line."""
    blamed: set[int] = field(default_factory=set)
    """Ranks that an accepted verdict blames."""
    unknown: list[str] = field(default_factory=list)
    """Ids that there are none of."""

    def read(self, words: str) -> None:
        self.text += f"\n{words}"
        self.ranks |= ranks_in(words)
        self.numbers |= numbers_in(words)
        self.places |= places_in(words)


def support(bench: Bench, ids: tuple[str, ...], results: dict[str, Result]) -> Support:
    found = Support()
    for one in ids:
        if one in results:
            found.read("\n".join(results[one].supporting))
            if results[one].answer == "accepted":
                found.blamed |= ranks_in(results[one].text.splitlines()[0])
        elif place := _PLACE.match(one):
            _read_source(bench, found, one, place[1], int(place[2]), int(place[3] or place[2]))
        elif (fact := bench.case.evidence(one)) is not None:
            found.read(f"{fact.source}, {fact.where}: {fact.quote}".replace("`", "'"))
            alike = ranks_of_evidence(bench, one)
            found.ranks |= alike
            found.numbers |= {str(len(alike))}
        else:
            found.unknown.append(one)
    return found


def _read_source(bench: Bench, found: Support, one: str, file: str, first: int, last: int) -> None:
    lines = bench.source_lines(file)
    if lines is None or not 1 <= first <= last <= len(lines) or last - first > _MOST_LINES:
        found.unknown.append(one)
        return
    name = PurePosixPath(file).name
    places = " ".join(f"{file}:{number}" for number in range(first, last + 1))
    # A document shows a place as code.
    found.text += f"\n{one} {places}\n" + "\n".join(lines[first - 1 : last])
    found.places |= {(name, number) for number in range(first, last + 1)}
    found.numbers |= {str(number) for number in range(first, last + 1)}
