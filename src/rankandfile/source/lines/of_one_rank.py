"""Lines that one rank's evidence leads to: where it is held, what it raised, how it left, what keeps it."""

from __future__ import annotations

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.ranks import parse_ranks
from rankandfile.source.flow import deciding
from rankandfile.source.program.places import SourcePlace, place_in

from .arguments import assigned
from .call_paths import Frame
from .event_loop.awaited_line import awaited_line
from .exception_origin import condition_of_raise
from .found_line import FoundLine, Search
from .held_line import innermost, standing
from .program_exit import deadline_of, exit_of
from .threads.handed_on import way_before
from .threads.inherited_lock import inherited_lock
from .threads.next_item import next_item


def held(search: Search, rank: int) -> FoundLine | None:
    """The line that a rank's host is held at."""
    found = standing(search.places, search.paths, rank)
    if found is None:
        return _waits_for_worker(search, rank)
    waits = awaited_line(search, rank, found.place) or next_item(search, rank, found.place)
    return waits or FoundLine(found.place, found.line, found.condition, kind="held")


def _waits_for_worker(search: Search, rank: int) -> FoundLine | None:
    """It is held in a process that makes the next item, which nobody took the stack of: what may hold that one, or the
    line of the program that waits for the item."""
    if not search.paths.waits_for_worker(rank):
        return None
    place = innermost(search.places, search.paths.now(rank))
    return inherited_lock(search) or (
        FoundLine(place, place.line, kind="held") if place is not None else None
    )


def remaining(search: Search, rank: int) -> FoundLine | None:
    """What keeps a process that is done: a thread of the program's own that still runs."""
    places = {
        (p.path, p.line): p for path in search.paths.others(rank) if (p := innermost(search.places, path))
    }
    if len(places) != 1:
        return None
    place = next(iter(places.values()))
    return FoundLine(place, place.line, kind="held")


def raised(search: Search, verdict: Verdict, rank: int) -> FoundLine | None:
    """Of exceptions one after the other, the first is the cause: where the dump's reader placed it, or the last
    traceback that ends in the program's own source."""
    shown = [innermost(search.places, path) for path, _ in search.paths.raised(rank)]
    place = said(search, verdict)
    known = [p for p in shown if p is not None]
    if place is None and known:
        place = known[-1]
    return raised_at(search, place) if place is not None else None


def raised_at(search: Search, place: SourcePlace) -> FoundLine:
    """The decision upon which an exception was raised there, or the line itself."""
    condition = condition_of_raise(place)
    if condition is None:
        return FoundLine(place, place.line, kind="raised")
    return FoundLine(
        place, condition.line, condition.text, search.why(place.function, condition), kind="raised"
    )


def exits_so(search: Search, rank: int) -> FoundLine | None:
    """The one line that exits with the code of this rank: it may have come to it, or to the program's end."""
    found = exit_of(search.program, _code(search, rank))
    if found is None:
        return None
    place = place_in(found[0], found[1].lineno)
    return FoundLine(place, place.line, kind="exited", story=_only_exit(search, place))


def _code(search: Search, rank: int) -> int | None:
    codes = search.case.exits.filter(rank=rank)["exit_code"].drop_nulls().to_list()
    return codes[-1] if codes else None


def exited(search: Search, rank: int) -> FoundLine | None:
    """The line by which the program ends with the exit code of this rank, and the condition on it."""
    found = exit_of(search.program, _code(search, rank))
    if found is None:
        return None
    function, statement, condition = found
    if condition is None:
        return exits_so(search, rank)
    place = place_in(function, statement.lineno)
    return FoundLine(
        place, condition.line, condition.text, search.why(place.function, condition), kind="exited"
    )


def _only_exit(search: Search, place: SourcePlace) -> str:
    """What is so whatever happened: no other line of the program exits like this."""
    shown = place.module.line_at(place.line)
    kind, site = search.objects.index.by_themselves.get(place.function, ("", None))
    runs = ""
    if kind == "signal" and site is not None:
        at = f"{site.function.module.path.rsplit('/', 1)[-1]}:{site.call.lineno}"
        runs = f", in {place.function.name}, which runs when a signal reaches the rank (by {at})"
    return f"The only line of the program that exits so is `{shown}` ({place.at(place.line)}){runs}."


def guarded(search: Search, verdict: Verdict) -> FoundLine | None:
    """The decision that lets only some ranks come to the place that the verdict names. That a call before it may raise
    is none, where nothing shows that it did."""
    place = said(search, verdict)
    for condition in deciding(place.function, place.line, "end") if place is not None else ():
        if condition.kind == "call":
            continue
        reason = search.why(place.function, condition) if place is not None else None
        if place is not None and reason is not None and reason.level == "varying":
            return FoundLine(place, condition.line, condition.text, reason, kind="place")
    return None


def begun_at(search: Search, verdict: Verdict) -> FoundLine | None:
    """A call that a thread makes, and where its work is handed over to that thread."""
    place = named_by(search, verdict)
    ranks = sorted({one.rank for one in verdict.named} | set(parse_ranks(verdict.victims)))
    made = (made for rank in ranks for made in search.paths.calls(rank))
    paths = [each.path for each in made if place is not None and place in map(search.places.find, each.path)]
    before = way_before(search, paths[-1]) if paths else ()
    if place is None or not before:
        return None
    at = f"{before[-1].file.rsplit('/', 1)[-1]}:{before[-1].line}"
    return FoundLine(place, place.line, kind="begun", story=f"What the thread does is handed over at {at}.")


def went_to(search: Search, verdict: Verdict) -> FoundLine | None:
    """The place that the verdict itself names, where it is that of a culprit's own call, or of no call: it says more
    than none. The call that was left out, or that others made, is not where the ranks went different ways."""
    place, named = verdict.location, {one.rank for one in verdict.culprits}
    if place is None or place.line is None:
        return None
    # Where all make the same calls in another order, each makes the call that it names.
    divergence = verdict.divergence
    cohorts = divergence.cohorts if divergence is not None and divergence.kind != "swapped" else ()
    made_there = [
        parse_ranks(cohort.ranks)
        for cohort in cohorts
        if cohort.call is not None and (cohort.call.file, cohort.call.line) == (place.file, place.line)
    ]
    if not all(named & set(ranks) for ranks in made_there):
        return None
    found = named_by(search, verdict)
    return FoundLine(found, found.line) if found is not None else None


def deadline(search: Search) -> FoundLine | None:
    """The line that sets the timeout of the process groups."""
    found = deadline_of(search.program)
    if found is None:
        return None
    function, call = found
    place = place_in(function, call.lineno)
    given = next(keyword.value for keyword in call.keywords if keyword.arg == "timeout")
    made = assigned(function, given, call.lineno)
    return FoundLine(place, made.lineno if made is not None else call.lineno, kind="place")


def said(search: Search, verdict: Verdict) -> SourcePlace | None:
    """The place that the verdict itself names, in the tree, where it is that of no call."""
    cohorts = verdict.divergence.cohorts if verdict.divergence is not None else []
    calls = [cohort.call for cohort in cohorts if cohort.call is not None]
    said = verdict.location
    if said is None or any((call.file, call.line) == (said.file, said.line) for call in calls):
        return None
    return named_by(search, verdict)


def named_by(search: Search, verdict: Verdict) -> SourcePlace | None:
    """The place that the verdict itself names, in the tree."""
    said = verdict.location
    if said is None or said.line is None:
        return None
    place = search.places.find(Frame((said.function or "").rsplit(".", 1)[-1], said.file, said.line))
    return place if place is not None and place.known else None
