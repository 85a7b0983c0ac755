"""From frames to activity: what a thread was doing, by the functions it was in.

Read from the innermost frame outwards, up to the first frame of the program itself: what lies between is what
the program asked for. What lies further out is what it was part of.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from rankandfile.model.activity import ACTIVITIES, Doing
from rankandfile.model.heuristics import heuristic
from rankandfile.model.known.packages import is_installed

from .activity_contexts import CODE, CONTEXTS, Context
from .activity_patterns import PATTERNS
from .c_programs import own_frames, without_version
from .frame_pattern import ASKED


class CodePlace(NamedTuple):
    """A frame of a stack, as the table `frames` has it."""

    function: str
    file: str
    line: int
    is_torch: bool = False


Stack = Sequence[CodePlace]


class _Match(NamedTuple):
    frame: int
    activity: str
    phrase: str
    called: str = ""
    """The function that its line of source calls, where no frame is of it."""


_LIBRARY = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python3(?:\.\d+)?[/\\]|^<")
_NATIVE = re.compile(
    r"\.so[.\d]*$|\.(?:c|cc|cpp|cxx|c\+\+|cu|hip|h|hh|hpp|hxx|S|rs|[fF](?:\d\d|or|tn)?)$|^\?*$|^<gc>$"
    r"|(?:^|[/\\])(?:lib)?python3?[.\d]*$|^\[?(?:vdso|vsyscall)\]?$"
)
#: A line of a file, in no function of it.
_NO_FUNCTION = " ← <module>"
_TAKES = re.compile(
    r"dump_traceback\w*|dump_(all_)?(stacks?|threads)|_?dump_(fr|nccl)_trace\w*|(print|format|extract)_stack"
)
_HANDLES = re.compile(r"signal|sigusr|sigterm|handler", re.IGNORECASE)
_WORKER = re.compile(r"(?:^|[/\\])torch[/\\]utils[/\\]data[/\\]_utils[/\\]worker\.py$")
_BOOT = re.compile(
    r"(?:^|[/\\])(?:threading|runpy|multiprocessing[/\\]\w+|torch[/\\]distributed[/\\]c10d_logger)\.py$"
)


def classify(stack: Stack, code: str | None = None) -> Doing | None:
    """What a thread with this stack (innermost frame first) was doing; None for an empty stack.

    `code` is the source text of the innermost frame, if known: it tells what a call into C was.
    """
    skip = _dumping(stack)
    frames = _own(stack[skip:])
    if not frames:
        return None
    site = _site(frames)
    run = frames[: site + 1]
    match = (
        _match(run) or _match_code(code) or _Match(0, "user_code", ASKED if site else "in {function}, {at}")
    )
    index, activity, phrase, called = match
    # A context that is the very frame that decided says nothing more.
    within = _within(frames[index + 1 :], activity) if activity not in ("idle", "import") else None
    said = phrase.format(
        op=called or short_function(frames[index].function),
        function=short_function(frames[site].function),
        at=at(frames[site]),
    ).replace(_NO_FUNCTION, "")
    return Doing(
        activity=activity,
        within=within.activity if within is not None else None,
        waits=ACTIVITIES[activity].waits,
        frame=skip + index,
        site=skip + site,
        phrase=f"{said}, {within.words}" if within is not None and not _said(within, frames[site]) else said,
        op=called,
    )


def short_function(name: str) -> str:
    """A function without its class or where it is defined: `Trainer.step.<locals>.closure` is `closure`."""
    name = without_version(name)
    return name if "::" in name or " " in name else name.rpartition(".")[2]


def at(place: CodePlace) -> str:
    name = re.split(r"[/\\]", place.file)[-1]
    return f"{name}:{place.line}" if place.line else name or "??"


def is_native(place: CodePlace) -> bool:
    return _NATIVE.search(place.file) is not None


def way(stack: Stack, first: int = 0) -> list[CodePlace]:
    """The frames that tell where a program is: those in Python; of a program without any, its own in C.

    From the `first` one on: in C, what it called there belongs to the way.
    """
    python = [place for place in stack if not is_native(place)]
    if python:
        return [place for place in stack[first:] if not is_native(place)]
    own = own_frames(stack)
    return [] if own is None else list(stack[first or own.start : own.stop])


def is_library(place: CodePlace) -> bool:
    """Not the program's own: torch's, the interpreter's, or installed."""
    installed = _LIBRARY.search(place.file) is not None or is_installed(place.file)
    return place.is_torch or installed or is_native(place)


def _dumping(stack: Stack) -> int:
    """How many innermost frames only take this snapshot: a signal's handler runs on top of what it interrupts."""
    names = [short_function(place.function) for place in stack[:6]]
    for index in range(len(names) - 1, -1, -1):
        if _TAKES.fullmatch(names[index]):
            return index + 1 + (index + 1 < len(names) and _HANDLES.search(names[index + 1]) is not None)
    return 0


def _own(stack: Stack) -> Stack:
    """A forked data-loading worker inherits its parent's frames: they end where its own begin."""
    for index, place in enumerate(stack):
        if place.function.endswith("_worker_loop") and _WORKER.search(place.file):
            return stack[: index + 1]
    return stack


def _site(frames: Stack) -> int:
    for index, place in enumerate(frames):
        if not is_library(place):
            return index
    for index, place in enumerate(frames):
        if not place.is_torch and not is_native(place):
            return index
    if all(is_native(place) for place in frames) and (own := own_frames(frames)) is not None:
        return own.start
    # Nothing of the program: the outermost Python frame that is not a launcher's says most.
    for index in range(len(frames) - 1, -1, -1):
        if not is_native(frames[index]) and not _BOOT.search(frames[index].file):
            return index
    return len(frames) - 1


def _match(run: Stack) -> _Match | None:
    names = [
        (short_function(place.function), place.file.replace("\\", "/"), is_native(place)) for place in run
    ]
    for pattern in PATTERNS:
        for index, name in enumerate(names):
            if any(where.fits(*name) for where in pattern.where):
                return _Match(index, pattern.activity, pattern.phrase)
    return None


@heuristic("activity by source line", "the line of source tells an activity that no frame shows")
def _match_code(code: str | None) -> _Match | None:
    if not code:
        return None
    for activity, phrase, words in CODE:
        if match := words.search(code):
            return _Match(0, activity, phrase, match.groupdict().get("op") or "")
    return None


def _within(outer: Stack, activity: str) -> Context | None:
    for place in outer:
        name = (short_function(place.function), place.file.replace("\\", "/"), is_native(place))
        for context in CONTEXTS:
            foreign = context.own and is_library(place)
            if not foreign and context.activity != activity and context.where.fits(*name):
                return context
    return None


def _said(within: Context, site: CodePlace) -> bool:
    """The program's own names already say it."""
    return within.own and within.activity in f"{site.function} {site.file}".lower()


def activities(
    snapshots: pl.DataFrame,
    stacks: pl.DataFrame,
    frames: pl.DataFrame,
    source: Mapping[tuple[str, int], str] | None = None,
) -> pl.DataFrame:
    """What each distinct stack of these snapshots shows: one row per `stack`, whatever the number of ranks.

    Columns: stack, activity, within, waits, frame and site (rows of `frames`), phrase, op. `source` gives the text
    of lines by (file, line) where it is at hand; the text that tracebacks carry is used without asking.
    """
    carried = dict(snapshots.filter(pl.col("code").is_not_null()).select("stack", "code").iter_rows())
    rows: list[tuple[int, str, str | None, str, int, int, str, str]] = []
    for number, numbers, places in places_of(snapshots["stack"].drop_nulls().unique().sort(), stacks, frames):
        code = carried.get(number)
        if code is None and source and places:
            code = source.get((places[0].file, places[0].line))
        doing = classify(places, code)
        if doing is not None:
            rows.append(
                (
                    number,
                    doing.activity,
                    doing.within,
                    doing.waits,
                    numbers[doing.frame],
                    numbers[doing.site],
                    doing.phrase,
                    doing.op,
                )
            )
    schema = {
        "stack": pl.UInt32,
        "activity": pl.String,
        "within": pl.String,
        "waits": pl.String,
        "frame": pl.UInt32,
        "site": pl.UInt32,
        "phrase": pl.String,
        "op": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def places_of(
    wanted: pl.Series, stacks: pl.DataFrame, frames: pl.DataFrame
) -> list[tuple[int, list[int], list[CodePlace]]]:
    """Number, frame numbers and frames of each wanted stack."""
    chosen = stacks.filter(pl.col("stack").is_in(wanted.implode())).select("stack", "frames")
    used = chosen["frames"].explode().drop_nulls().unique()
    table = frames.filter(pl.col("frame").is_in(used.implode()))
    places = {
        number: CodePlace(function, file, line, is_torch)
        for number, function, file, line, is_torch in table.select(
            "frame", "function", "file", "line", "is_torch"
        ).iter_rows()
    }
    return [(stack, numbers, [places[number] for number in numbers]) for stack, numbers in chosen.iter_rows()]
