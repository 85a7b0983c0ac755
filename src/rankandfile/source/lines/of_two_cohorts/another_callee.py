"""One line, two callees: a table of handlers, a list of hooks, a variable that holds a function.

Both ranks stand at `HANDLERS[kind](batch)`, and one of them is in `shared`, the other in `best`. No test stands between
the two calls: what decides is where the function came from.
"""

from __future__ import annotations

import ast

from msgspec.structs import replace

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import ancestors, of_a_dictionary
from rankandfile.source.dependence.value import ORDERS
from rankandfile.source.files.text import without_comment
from rankandfile.source.flow import Condition
from rankandfile.source.lines.arguments import calls_on
from rankandfile.source.lines.call_paths import CallPath, Stop, first_unlike
from rankandfile.source.lines.divergence import CodeDivergence, Side, ranks_in_words, ranks_of
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.lines.loop_order import Going, handed_out
from rankandfile.source.lines.made_from import Entry, answers, enters
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, enclosing_class, method, resolve
from rankandfile.source.program.places import SourcePlace, place_in

from .items_behind import loop_of, loops_behind
from .put_in import PutIn, put_in


@heuristic(
    "one line with two callees",
    "two functions called from one line come from what made the ranks' choice of them",
)
def another_callee(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """Where the choice came from, as far as that is known to differ; else the line itself."""
    one, other = divergence.normal, divergence.culprit
    depth = first_unlike(one.path, other.path)
    if not depth:
        return None
    place, *callees = (search.places.find(path[d]) for path, d in _around(one.path, other.path, depth))
    if place is None or not place.known:
        return None
    # Methods of one name are told apart by their classes.
    names = [callee.function.qualname for callee in callees if callee is not None and callee.known]
    if len(set(names)) < 2 and (len(names) == 2 or one.path[depth][:2] == other.path[depth][:2]):
        return None
    if None in callees:
        return None
    line = place.module.code_at(place.line)
    if len(set(names)) < 2:
        names = [side.path[depth].function for side in (one, other)]
    story = (
        f"`{line}` ({place.at(place.line)}) calls {names[0]} on {ranks_in_words(one)} and "
        f"{names[1]} on {ranks_in_words(other)}."
    )
    chosen = [
        call for call in calls_on(place, Stop(place.line)) if resolve(place.function, call.func) is None
    ]
    for call in chosen:
        if (loop := loop_of(place, call.func)) is not None:
            known = [callee for callee in callees if callee is not None and callee.known]
            wanted = _by_own_wish(search, place, loop, known, divergence, story)
            return wanted or _items(search, place, loop, divergence, story)
    for call in chosen:
        entry = enters(search.program, place.function, call.func)
        if entry is not None:
            return replace(at(entry, divergence, "callee"), story=story)
    if not chosen:
        return None
    for around, loop in loops_behind(search, one.path[:depth], place, [call.func for call in chosen]):
        found = _items(search, around, loop, divergence, story)
        if found.reason is not None and found.reason.level == "varying":
            return found
    return FoundLine(place, place.line, line, divergence=divergence, kind="callee", story=story)


@heuristic(
    "an object of another class",
    "who is in a method that the others came by without a call has an object of another class, as a test chose it",
)
def another_object(search: Search, divergence: CodeDivergence) -> FoundLine | None:
    """One side is in a method of an object, and the other came by the line that calls it: `curves.add(step)`, where
    one has an object that writes, and the other one that keeps silent."""
    sides = divergence.culprit, divergence.normal
    depth = first_unlike(sides[0].path, sides[1].path)
    if depth is None or len({side.path[depth][:2] for side in sides}) > 1:
        return None
    for side in sides:
        if not _came_by(divergence.before, side.path, divergence.other_than(side).path, depth):
            continue
        place, callee, *_ = [*map(search.places.find, side.path[depth : depth + 2]), None, None]
        if place is None or callee is None or not (place.known and callee.known) or not callee.function.owner:
            continue
        for call in calls_on(place, Stop(place.line, callee.function.name)):
            method_of = call.func.value if isinstance(call.func, ast.Attribute) else None
            if method_of is None or resolve(place.function, call.func) is not None:
                continue
            entry = enters(search.program, place.function, method_of)
            line = place.module.code_at(place.line)
            story = (
                f"`{line}` ({place.at(place.line)}) calls {callee.function.qualname} on {ranks_in_words(side)}; "
                "on the others it makes no call."
            )
            if entry is not None and _by_key(place.function, method_of):
                # Which key comes next is this rank's own matter: `module = self.tasks[name]`.
                return replace(at(entry, divergence, "items"), story=story)
            if entry is not None and _makes_one(entry, callee) and not _alike(search, entry, sides):
                return replace(at(entry, divergence, "callee"), story=story, singled=side.members)
    return None


def _by_key(function: Function, value: ast.expr) -> bool:
    """Whether the object is one of a table's, by a key that is worked out."""
    given = [value]
    if isinstance(value, ast.Name):
        given = [d.value for d in reaching(function).everywhere(value.id) if d.value is not None]
    taken = [each for each in given if isinstance(each, ast.Subscript)]
    return bool(taken) and not any(isinstance(each.slice, (ast.Constant, ast.Slice)) for each in taken)


def _makes_one(entry: Entry, callee: SourcePlace) -> bool:
    """Whether upon that test an object of the method's class is made."""
    own, test = enclosing_class(callee.function), _test_around(entry)
    if own is None or not entry.test or test is None:
        return False
    made = (resolve(entry.function, n.func) for n in ast.walk(test) if isinstance(n, ast.Call))
    return any(isinstance(one, Class) and one.node is own.node for one in made)


def _test_around(entry: Entry) -> ast.If | ast.IfExp | None:
    outer = ancestors(entry.function.module, entry.node)
    return next((node for node in outer if isinstance(node, (ast.If, ast.IfExp))), None)


def _alike(search: Search, entry: Entry, sides: tuple[Side, Side]) -> bool:
    """Whether the test comes out the same on both, by what is known of each rank: then both have such an object."""
    test = _test_around(entry)
    if test is None:
        return False
    ways = {search.one_rank(side.rank).outcomes(test.test, entry.function) for side in sides}
    return len(ways) == 1 and len(ways.pop()) == 1


def _came_by(before: CallPath, there: CallPath, other: CallPath, depth: int) -> bool:
    """Whether the other side has come by the line: it is further down the function, or round its loop once more."""
    if depth >= len(before) or before[depth][:2] != there[depth][:2]:
        return False
    if before[depth].line > there[depth].line:
        # Both have come into the function anew: it is further down, and not further than they were before.
        return there[depth].line < other[depth].line <= before[depth].line
    return other[depth].line > there[depth].line or other[depth].line <= before[depth].line


def _items(
    search: Search, place: SourcePlace, loop: Going, divergence: CodeDivergence, story: str
) -> FoundLine:
    entry = enters(search.program, place.function, loop.items)
    if entry is not None and handed_out(search.program, place, loop.items, entry):
        return replace(at(entry, divergence, "items"), story=story)
    text = place.module.code_at(loop.line)
    again = Condition(loop.line, text, "for", "another round", "exhausted", loop.items)
    found = FoundLine(place, loop.line, text, divergence=divergence, kind="items", story=story)
    reason = search.why(place.function, again)
    # An order that is another in every process is no matter of who put more in.
    ordered = reason.source in ORDERS
    more = None if ordered else put_in(search.program, search.objects, place, loop.items)
    if more is not None:
        # Upon its test one or the other is put in first: a rank that met both cases has them both, in its own order.
        either = bool(more.test.orelse) and not more.keyed and of_a_dictionary(loop.items)
        return replace(_put_in(search, found, more), unordered=either)
    return replace(found, reason=reason, unordered=_in_order_of_arrival(reason, loop.items))


def _put_in(search: Search, found: FoundLine, more: PutIn) -> FoundLine:
    """The line that fills what the loop goes over where one item can take another's place, else the test around it."""
    file, line = more.around.module.path, more.test.lineno
    place = place_in(more.around, line)
    text = more.around.module.code_at(line)
    story = (
        f"{found.story} More is put into what it goes over upon `{text}` ({file.rsplit('/', 1)[-1]}:{line})"
    )
    story += ", and what has a key that is there already takes the other's place." if more.keyed else "."
    place = more.store if more.keyed else place
    return replace(
        found,
        place=place,
        line=place.line,
        condition=place.module.code_at(place.line),
        reason=more.reason,
        story=story,
        singled=_singled_out(search, more, found.divergence),
    )


def _singled_out(search: Search, more: PutIn, divergence: CodeDivergence | None) -> tuple[int, ...]:
    """The side that alone comes through the test, where that asks for ranks by their number."""
    compared = [n for n in ast.walk(more.test.test) if isinstance(n, ast.Compare)]
    asks = any(isinstance(op, (ast.Eq, ast.In)) for node in compared for op in node.ops)
    if divergence is None or more.reason.source != "rank_api" or not asks:
        return ()
    sides = divergence.normal, divergence.culprit
    ways = [search.one_rank(side.rank).outcomes(more.test.test, more.around) for side in sides]
    able = [side for side, way in zip(sides, ways, strict=True) if True in way]
    return tuple(ranks_of(able[0].ranks) or [able[0].rank]) if len(able) == 1 else ()


def _by_own_wish(
    search: Search,
    place: SourcePlace,
    loop: Going,
    callees: list[SourcePlace],
    divergence: CodeDivergence,
    story: str,
) -> FoundLine | None:
    """The items are filtered by a method of their own (`if each.wants(step)`): where the one that is left out has it.

    The filter is the same line for all items; what it asks stands in the class of one of the two that were called.
    """
    entry = enters(search.program, place.function, loop.items)
    if entry is None or not entry.test:
        return None
    asked = {
        n.func.attr
        for n in ast.walk(entry.node)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
    }
    classes = [cls for callee in callees if (cls := enclosing_class(callee.function)) is not None]
    found = {
        (answer.function, answer.line): answer
        for name in asked
        for cls in classes
        if (own := method(cls, name)) is not None
        for answer in answers(search.program, own)
    }
    if len(found) != 1:
        return None
    line = next(iter(found.values()))
    # Whose method it is, is not always known where it is called: what it is asked with differs as the filter shows.
    line = line if line.reason.level == "varying" else replace(line, reason=entry.reason)
    module = entry.function.module
    text = module.code_at(entry.line)
    story += f" The items are filtered by `{text}` ({module.path.rsplit('/', 1)[-1]}:{entry.line})."
    return replace(at(line, divergence, "items"), story=story)


def _in_order_of_arrival(reason: Reason, items: ast.expr) -> bool:
    """What the loop goes over is a set, or a dictionary that is filled as its keys come in, or what is done first."""
    return reason.source in ORDERS or of_a_dictionary(items)


def at(entry: Entry, divergence: CodeDivergence | None, kind: str) -> FoundLine:
    """The line of the place where the ranks' own part comes in."""
    text = without_comment(entry.text)
    return FoundLine(entry.place, entry.line, text, entry.reason, divergence, kind=kind)


def _around(one: CallPath, other: CallPath, depth: int) -> list[tuple[CallPath, int]]:
    return [(one, depth - 1), (one, depth), (other, depth)]
