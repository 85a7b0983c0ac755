"""The line at which a rank waits whose stack ends in its event loop: of what its coroutine awaits, what has no end."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.syntax import ancestors, text
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import Frame as StackFrame
from rankandfile.source.lines.call_paths import Stop
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.held_line import innermost
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, method, resolve
from rankandfile.source.program.places import SourcePlace, place_in

from .given_back import calls, only_wait_of, skipped
from .waits import Chain, Step, Wait, Waits

_LOOP = re.compile(r"(^|/)(asyncio|uvloop|anyio|trio)/([\w/]+)\.py$|(^|/)selectors\.py$")
_NOT_WAITING = {"close", "__exit__", "_cancel_all_tasks", "_run"}
"""Functions of the loop that end it, or call what a task does."""
_STARTS = {"run", "run_until_complete"}
_TAKE_FUNCTIONS = {"anyio.run", "trio.run"}
_POOL = "concurrent/futures/thread.py"
_SHOWN = 3


@heuristic("in the event loop", "who stands in an event loop waits at the only await that has no limit")
def awaited_line(search: Search, rank: int, place: SourcePlace) -> FoundLine | None:
    """None where the rank does not stand in an event loop, or not all that it awaits there is known."""
    if not _in_the_loop(search, rank, place):
        return None
    waits = Waits(search, rank)
    for call in calls_on(place, Stop(place.line)):
        if called_name(call) in _STARTS and call.args:
            target = resolve(place.function, call.func)
            if isinstance(target, External) and target.dotted in _TAKE_FUNCTIONS:
                coroutine = resolve(place.function, call.args[0])
                if not isinstance(coroutine, Function):
                    return None
                waits.of_function(coroutine)
            else:
                waits.of_value(place.function, call.args[0])
            break
    if not waits.whole or not waits.found:
        return None
    return _in_a_thread(search, rank, waits.found) or _told(rank, place, waits.found)


def _in_the_loop(search: Search, rank: int, place: SourcePlace) -> bool:
    """All that the program's own line has called is the loop, which waits for something to happen."""
    for path in search.paths.whole(rank, "main"):
        inner = list(takewhile(lambda frame: not _is_at(search, frame, place), reversed(path)))
        if len(inner) < len(path):
            names = [match for frame in inner if (match := _LOOP.search(frame.file.replace("\\", "/")))]
            return (
                len(names) == len(inner)
                and any(match[2] for match in names)
                and not any(frame.function in _NOT_WAITING for frame in inner)
            )
    return False


def _is_at(search: Search, frame: StackFrame, place: SourcePlace) -> bool:
    found = search.places.find(frame)
    return found is not None and (found.path, found.line) == (place.path, place.line)


def _in_a_thread(search: Search, rank: int, waits: Sequence[Wait]) -> FoundLine | None:
    """Where the thread stands that runs what is awaited."""
    found: dict[tuple[str, int], tuple[SourcePlace, Wait]] = {}
    for wait in waits:
        runs = _functions(search, wait)
        for path in search.paths.whole(rank, "other") if runs else ():
            places = [p for frame in path if (p := search.places.find(frame)) is not None and p.known]
            pool = any(frame.file.replace("\\", "/").endswith(_POOL) for frame in path)
            place = innermost(search.places, path)
            if pool and place is not None and any(p.function in runs for p in places):
                found[place.path, place.line] = place, wait
    if len(found) != 1:
        return None
    place, wait = next(iter(found.values()))
    at = _named(wait.chain[-1])
    story = f"A thread of the pool of rank {rank} stands in what its coroutine awaits by {at}."
    return FoundLine(place, place.line, kind="awaits", story=story)


def _functions(search: Search, wait: Wait) -> list[Function]:
    if wait.runs is None or wait.where is None:
        return []
    target = resolve(wait.where, wait.runs)
    if isinstance(target, Function):
        return [target]
    if not isinstance(wait.runs, ast.Attribute):
        return []
    classes = search.objects.classes(wait.runs.value, Frame(wait.where))
    return [f for cls in classes if (f := method(cls, wait.runs.attr)) is not None]


def _told(rank: int, place: SourcePlace, waits: Sequence[Wait]) -> FoundLine:
    left = _without_locks(waits)
    chains = [_lifted(wait.chain) for wait in left]
    ends = list({(step.function.module.path, step.node.lineno): step for *_, step in chains}.values())
    but = ", but for locks that the end of a block gives back" if len(left) < len(waits) else ""
    if len(ends) == 1:
        says = f"only {_named(ends[0])} has no limit that the source shows{but}."
        story = f"Rank {rank} waits in its event loop: of what its coroutine awaits, {says}"
        return _line(ends[0], " ".join(filter(None, [story, skipped(left[0].chain, ends[0])])))
    shown = ", ".join(map(_named, ends[:_SHOWN]))
    more = f", and {len(ends) - _SHOWN} more" if len(ends) > _SHOWN else ""
    says = f"these have no limit that the source shows{but}: {shown}{more}."
    story = f"Rank {rank} waits in its event loop: of what its coroutine awaits, {says}"
    common = _common(chains)
    return (
        _line(common, story)
        if common is not None
        else FoundLine(place, place.line, kind="awaits", story=story)
    )


def _without_locks(waits: Sequence[Wait]) -> list[Wait]:
    """Who waits for a lock that the end of a block gives back, waits for what somebody else awaits in such a block:
    for that, unless it is another lock."""
    others = [wait for wait in waits if not wait.lock]
    held = [wait.chain[-1].around for wait in waits if wait.lock]
    nested = any(_inside(wait.chain, held) for wait in waits if wait.lock)
    return others if others and not nested else list(waits)


def _inside(chain: Chain, blocks: Iterable[ast.AST | None]) -> bool:
    """Whether one of the awaits stands in one of the blocks, other than its own."""
    known = {block for block in blocks if block is not None}
    return any(
        not known.isdisjoint(ancestors(step.function.module, step.around or step.node)) for step in chain
    )


def _lifted(chain: Chain) -> Chain:
    """The call of a function that does nothing but wait: what a person would change is there."""
    while len(chain) > 1 and only_wait_of(chain[-1]) and calls(chain[-2], chain[-1].function):
        chain = chain[:-1]
    return chain


def _common(chains: Sequence[Chain]) -> Step | None:
    """The innermost await that all have in common."""
    found = None
    for steps in zip(*chains, strict=False):
        if any(step.node is not steps[0].node for step in steps):
            break
        found = steps[0]
    return found


def _line(step: Step, story: str) -> FoundLine:
    place = place_in(step.function, step.node.lineno)
    return FoundLine(place, place.line, kind="awaits", story=story)


def _named(step: Step) -> str:
    module, line = step.function.module, step.node.lineno
    code = text(step.node) if step.word in ("await", "async with") else module.line_at(line)
    code = f"{step.word} {code}" if step.word == "async with" else code
    return f"`{code}` ({module.path.rsplit('/', 1)[-1]}:{line})"
