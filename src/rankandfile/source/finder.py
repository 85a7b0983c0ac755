"""The ways to a location, by what the verdict says: who parted, who is held, who raised, who left, who differs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict

from .arguments import assigned, called_name, calls_on, loop_order, origin
from .decision import MOST_ROUNDS, Decision, conditions_of, decisions, ordering_loop
from .dependence import Reason, why
from .filling import filled_upon
from .flow import Condition, deciding
from .fork import Fork, Ground, Left, Stop, forks
from .leaving import deadline_of, exit_of
from .parting import Parting, partings
from .passing import passes, reaches
from .place import Place, Places, in_loop
from .program import Program
from .raising import catcher, condition_of_raise, handler_around, raised_below
from .standing import dead_holder, innermost, standing
from .text import without_comment
from .tree import SourceTree
from .ways import Frame, Way, Ways

#: Families whose fault is in no line of the program.
_NOT_IN_CODE = {"device", "fabric"}
_RECEIVES = {"recv", "irecv", "recv_object_list"}


@dataclass(frozen=True)
class Found:
    """A line of the source, and how it came to be named."""

    place: Place
    line: int
    condition: str | None = None
    reason: Reason | None = None
    parting: Parting | None = None
    decision: Decision | None = None
    kind: str = "place"
    """place, held, raised, exited, argument, order, filled, decision, caught."""


class Finder:
    def __init__(self, case: Case, tree: SourceTree) -> None:
        self.case = case
        self.ways = Ways(case)
        self.program = Program(tree)
        self.places = Places(tree, self.program)
        self.ground = Ground(self._loops, self._avoids, self._passes)

    def find(self, verdict: Verdict) -> Found | None:
        """None where the code supports no answer."""
        culprits = [culprit.rank for culprit in verdict.culprits]
        if (
            (not verdict.hang and verdict.cause == "no_hang")
            or verdict.family in _NOT_IN_CODE
            or verdict.cause == "killed"
        ):
            return None
        if verdict.cause == "too_short_timeout":
            return self._deadline()
        if verdict.cause == "teardown_only" and culprits:
            return self._remaining(culprits[0])
        if verdict.family in ("host", "start_and_end") and culprits:
            return self._held(culprits[0])
        if verdict.cause == "raised" and culprits:
            return self._raised(verdict, culprits[0])
        if verdict.cause == "exited" and culprits:
            return self._exited(culprits[0])
        if verdict.cause == "group_mismatch" and (guarded := self._guarded(verdict)) is not None:
            return guarded
        return self._parted(verdict) or (self._died_holding(culprits[0]) if culprits else None)

    def _guarded(self, verdict: Verdict) -> Found | None:
        """The decision that lets only some ranks come to the place that the verdict names."""
        place = self._said(verdict)
        for condition in deciding(place.function, place.line, "end") if place is not None else ():
            reason = self._why(place, condition) if place is not None else None
            if place is not None and reason is not None and reason.level == "varying":
                return Found(place, condition.line, condition.text, reason, kind="place")
        return None

    def _died_holding(self, rank: int) -> Found | None:
        found = standing(self.places, self.ways, rank)
        dead = dead_holder(self.places, self.ways, rank, found.place) if found is not None else None
        return Found(dead, dead.line, kind="raised") if dead is not None else None

    def _held(self, rank: int) -> Found | None:
        found = standing(self.places, self.ways, rank)
        if found is None:
            return None
        dead = dead_holder(self.places, self.ways, rank, found.place)
        if dead is not None:
            return Found(dead, dead.line, kind="raised")
        return Found(found.place, found.line, found.condition, kind="held")

    def _deadline(self) -> Found | None:
        found = deadline_of(self.program)
        if found is None:
            return None
        function, call = found
        place = Place(function.module.path, function.module, function, call.lineno)
        given = next(keyword.value for keyword in call.keywords if keyword.arg == "timeout")
        made = assigned(function, given, call.lineno)
        return Found(place, made.lineno if made is not None else call.lineno, kind="place")

    def _remaining(self, rank: int) -> Found | None:
        """What keeps a process that is done: a thread of the program's own that still runs."""
        places = {(p.path, p.line): p for way in self.ways.others(rank) if (p := innermost(self.places, way))}
        if len(places) != 1:
            return None
        place = next(iter(places.values()))
        return Found(place, place.line, kind="held")

    def _raised(self, verdict: Verdict, rank: int) -> Found | None:
        """Of exceptions one after the other, the first is the cause: where the dump's reader placed it, or the last
        traceback that ends in the program's own source."""
        shown = [innermost(self.places, way) for way, _ in self.ways.raised(rank)]
        place = self._said(verdict)
        known = [p for p in shown if p is not None]
        if place is None and known:
            place = known[-1]
        if place is None:
            return None
        condition = condition_of_raise(place)
        if condition is None:
            return Found(place, place.line, kind="raised")
        return Found(place, condition.line, condition.text, self._why(place, condition), kind="raised")

    def _said(self, verdict: Verdict) -> Place | None:
        """The place that the verdict itself names, in the tree."""
        said = verdict.location
        if said is None or said.line is None:
            return None
        cohorts = verdict.divergence.cohorts if verdict.divergence is not None else []
        calls = [cohort.call for cohort in cohorts if cohort.call is not None]
        if any((call.file, call.line) == (said.file, said.line) for call in calls):
            return None
        place = self.places.find(Frame((said.function or "").rsplit(".", 1)[-1], said.file, said.line))
        return place if place is not None and place.known else None

    def _exited(self, rank: int) -> Found | None:
        codes = self.case.exits.filter(rank=rank)["exit_code"].drop_nulls().to_list()
        found = exit_of(self.program, codes[-1] if codes else None)
        if found is None:
            return None
        function, statement, condition = found
        place = Place(function.module.path, function.module, function, statement.lineno)
        if condition is None:
            return Found(place, statement.lineno, kind="exited")
        return Found(place, condition.line, condition.text, self._why(place, condition), kind="exited")

    def _parted(self, verdict: Verdict) -> Found | None:
        found = list(partings(self.ways, verdict))
        first = found[0] if found else None
        same = (
            first
            if first is not None and first.normal.way and first.normal.way == first.culprit.way
            else None
        )
        if same is not None and verdict.family == "arguments":
            return self._argument(verdict, same)
        if same is not None and (ordered := loop_order(self.places, same.culprit.way)) is not None:
            return Found(ordered.place, ordered.line, ordered.text, ordered.reason, same, kind="order")
        if same is not None and verdict.divergence is not None and verdict.divergence.kind == "argument":
            return self._argument(verdict, same)
        best: Decision | None = None
        chosen: Parting | None = None
        for parting in found:
            for decision in decisions(self.places, self._forks(parting))[:1]:
                if best is None or decision.weight < best.weight:
                    best, chosen = decision, parting
        if best is not None and chosen is not None:
            return self._decided(best, chosen)
        for parting in found:
            filled = self._filled(parting)
            if filled is not None:
                return filled
            caught = self._caught_outside(parting)
            if caught is not None:
                return caught
        return self._argument(verdict, same) if same is not None else self._together(verdict)

    def _filled(self, parting: Parting) -> Found | None:
        """What a loop goes over, or a test asks for, was filled by a decision that differs."""
        for fork in self._forks(parting):
            place = self.places.find(fork.frame)
            if place is None or not place.known or fork.guessed or fork.rounds > MOST_ROUNDS:
                continue
            for condition in conditions_of(place.function, fork):
                filled = filled_upon(self.places, fork.outer, place, condition.node)
                if filled is not None:
                    where, upon, reason = filled
                    return Found(
                        where, upon.line, without_comment(upon.text), reason, parting, kind="argument"
                    )
        return None

    def _caught_outside(self, parting: Parting) -> Found | None:
        """Nothing written in the function lets a side leave it; but a handler further out would catch an exception."""
        forks = [fork for fork in self._forks(parting) if not fork.guessed]
        for fork in forks:
            place = self.places.find(fork.frame)
            if fork.rounds > min(MOST_ROUNDS, forks[0].rounds) or fork.after is None or fork.culprit != "end":
                continue
            if place is None or not place.known or any(True for _ in conditions_of(place.function, fork)):
                continue
            caught = catcher(self.places, fork.outer, None)
            if caught is None:
                continue
            where, handler = caught
            text = without_comment(where.module.lines[handler.lineno - 1].strip())
            condition = Condition(handler.lineno, text, "except", "not raised", "raised", handler)
            reason = self._why(where, condition)
            if reason.level == "varying":
                return Found(where, handler.lineno, text, reason, parting, kind="caught")
        return None

    def _together(self, verdict: Verdict) -> Found | None:
        """Everyone was seen on one line, which waits for somebody else: each waits for what another does after it."""
        ranks = self.ways.seen()
        places = {(p.path, p.line): p for r in ranks if (p := innermost(self.places, self.ways.now(r)))}
        if len(ranks) < 2 or len(places) != 1 or not all(self.ways.now(rank) for rank in ranks):
            return None
        place = next(iter(places.values()))
        if verdict.family == "arguments":
            made = origin(self.places, self.ways.now(ranks[0]), verdict.cause)
            return Found(made.place, made.line, made.text, made.reason, kind="argument") if made else None
        if not any(called_name(call) in _RECEIVES for call in calls_on(place, Stop(place.line))):
            return None
        return Found(place, place.line, kind="held")

    def _argument(self, verdict: Verdict, parting: Parting) -> Found | None:
        found = origin(self.places, parting.culprit.way, verdict.cause)
        if found is None:
            return None
        return Found(found.place, found.line, found.text, found.reason, parting, kind="argument")

    def _decided(self, decision: Decision, parting: Parting) -> Found:
        condition, place = decision.condition, decision.place
        text = without_comment(condition.text)
        found = Found(place, condition.line, text, decision.reason, parting, decision, kind="decision")
        if condition.kind == "except":
            return replace(found, kind="caught")
        order = ordering_loop(place, condition)
        if order is not None:
            # Which item comes first decides, and the loop says which.
            text = without_comment(place.module.lines[order.lineno - 1].strip())
            reason = why(self.program, place.function, order.iter)
            return replace(found, line=order.lineno, condition=text, reason=reason)
        filled = filled_upon(self.places, (), place, condition.node)
        if filled is not None and filled[0] is place and filled[1].line < condition.line:
            # The test only asks what an earlier decision left in a list.
            _, upon, reason = filled
            return replace(
                found, line=upon.line, condition=without_comment(upon.text), reason=reason, kind="filled"
            )
        raised = raised_below(place, condition)
        if raised is None:
            return found
        # The nearest handler may stand in the function itself, or in one further out.
        inside = handler_around(replace(place, line=raised.lineno), raised)
        caught = (place, inside) if inside is not None else catcher(self.places, decision.fork.outer, raised)
        if caught is None:
            return found
        where, handler = caught
        text = without_comment(where.module.lines[handler.lineno - 1].strip())
        return replace(found, place=where, line=handler.lineno, condition=text, kind="caught")

    def _why(self, place: Place, condition: Condition) -> Reason:
        return why(self.program, place.function, condition)

    def _forks(self, parting: Parting) -> list[Fork]:
        normal: Way | Left = self._qualified(parting.normal.way) or "end"
        culprit: Way | Left = self._qualified(parting.culprit.way) or "end"
        return forks(self._qualified(parting.before), normal, culprit, self.ground)

    def _qualified(self, way: Way) -> Way:
        """Functions by their full names: two classes of a file may each have a `forward`."""
        places = [self.places.find(frame) for frame in way]
        return tuple(
            frame._replace(function=place.function.qualname) if place is not None and place.known else frame
            for frame, place in zip(way, places, strict=True)
        )

    def _loops(self, frame: Frame, called: str | None) -> Literal["own", "library", ""]:
        place = self.places.find(frame)
        if place is None or not place.known:
            return ""
        if in_loop(place):
            return "own"
        # A function that the line does not name is called by a library in between, as often as that likes.
        names = {called_name(call) for call in calls_on(place, Stop(frame.line))}
        hidden = called is not None and names and not names & {called, "apply"}
        return "library" if hidden else ""

    def _avoids(self, frame: Frame, line: int) -> bool:
        place = self.places.find(frame)
        return place is None or not place.known or reaches(place.function, frame.line, line)

    def _passes(self, frame: Frame, after: int | None, via: int, to: int | None) -> bool:
        place = self.places.find(frame)
        return place is None or not place.known or passes(place.function, after, via, to)
