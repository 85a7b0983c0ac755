"""A verdict that has been given is not the last word: it is taken back where the job moves again after all, and
replaced where the evidence of another node arrives later.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rankandfile.capture.case import Case
from rankandfile.capture.diagnose import Answer
from rankandfile.capture.meet.nodes import Nodes
from rankandfile.capture.meet.together import Told, fetch_all, replaced
from rankandfile.capture.watch.rings import Seen, ended_well
from rankandfile.capture.watch.stall import Stall

#: How often a node that does not speak looks whether another verdict has been given.
ASK_S = 2.0


@dataclass
class Stands:
    """A verdict that holds until there are more calls, or more evidence."""

    calls: int
    """How many there were when it was given."""
    waited: Mapping[Path, int]
    """The open calls, by ring."""
    at: float
    folder: Path
    words: str = ""
    alarm: int = 0
    missing: frozenset[str] = field(default_factory=frozenset)
    """Nodes that have not handed in what they have."""
    told: Told | None = None
    """Another node has given it."""
    asked: float = 0.0
    late: bool = False
    """It has turned out that the job is slow."""


@dataclass(frozen=True)
class Revisions:
    case: Case
    stall: Stall
    say: Callable[[str], None]

    def moved(self, stands: Stands, seen: Sequence[Seen], nodes: Nodes | None) -> None:
        """There are more calls. It was no hang if those in which ranks waited have ended well."""
        later = [one for one in seen if one.path in stands.waited]
        if any(not ended_well(stands.waited[one.path], one) for one in later):
            self.say(
                "the job goes on; the verdict above stands: a call in which others waited has not ended well"
            )
        elif stands.told is not None or not stands.folder.is_dir():
            self.say("the job moves again: what was said above was no hang")
        else:
            after = time.monotonic() - stands.at
            ranks = {one.rank: after for one in later or seen if one.rank >= 0 and one.lives}
            answer = self.case.take_back(stands.folder, ranks)
            self.say(
                f"the job moves again: the verdict above is taken back, it was no hang; case: {stands.folder}"
            )
            publish(nodes, str(stands.alarm) if stands.alarm else "", answer, stands.folder)

    def is_later(self, stands: Stands, nodes: Nodes) -> bool:
        """Whether there may be something new: other nodes' evidence, or the verdict that another node makes of it."""
        if stands.told is None:
            return any(nodes.answered(name, stands.alarm) for name in stands.missing)
        due = time.monotonic() - stands.asked > ASK_S
        stands.asked = time.monotonic() if due else stands.asked
        return due

    def later(self, stands: Stands, nodes: Nodes) -> Stands | None:
        """The verdict by what there is now; None where it is one no more."""
        if stands.told is None:
            return self._look_again(stands, nodes)
        if (now := replaced(nodes, stands.alarm, stands.told)) is not None:
            stands.told = now
            self.say(f"replaced: {now.words}")
        return stands if stands.told.hang else None

    def _look_again(self, stands: Stands, nodes: Nodes) -> Stands | None:
        arrived = [name for name in stands.missing if nodes.answered(name, stands.alarm)]
        names = ", ".join(sorted(nodes.others()[name].name for name in arrived))
        self.say(f"evidence of {names} has arrived: looking again")
        stands.missing = fetch_all(nodes, stands.folder / "evidence", stands.alarm, lambda _: None)
        before = stands.words
        answer = self.case.judge(stands.folder, lambda: self.stall.told)
        stands.words, stands.late = headline(answer), bool(answer.late)
        case = f"case: {stands.folder}"
        if not answer.is_hang:
            self.say(f"the verdict above is taken back: {answer.words}; {case}")
        else:
            self.say(
                f"{'this replaces the verdict above' if stands.words != before else 'it stands'}; {case}"
            )
        publish(nodes, str(stands.alarm), answer, stands.folder)
        return stands if answer.is_hang else None


def publish(nodes: Nodes | None, about: str, answer: Answer, folder: Path, found: str = "") -> None:
    """For the other nodes, which have no case of their own. `found`: why evidence was kept, of a job that goes on."""
    if nodes is not None and about:
        hang = False if found else answer.is_hang
        verdict = {"node": nodes.word.name, "headline": found or headline(answer), "hang": hang}
        nodes.publish(about, {**verdict, "case": str(folder.absolute())})


def headline(answer: Answer) -> str:
    if answer.late:
        return f"slow so far: {answer.late}"
    card = answer.card.strip()
    # The place stands at the end of the line, behind blanks.
    return "  ".join(re.split(r" {2,}", card.splitlines()[0])) if answer.is_hang and card else answer.words
