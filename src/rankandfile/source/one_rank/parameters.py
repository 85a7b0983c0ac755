"""What a parameter holds on one rank: by what calls hand to it, or by its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankandfile.source.dependence.frame import Frame, called
from rankandfile.source.dependence.index import MOST_SITES
from rankandfile.source.program.modules import Function

from .arithmetic import Values, union

if TYPE_CHECKING:
    from .values import OneRank


def parameter(one: OneRank, name: str, frame: Frame) -> Values:
    """What the frame's own call gives it or, where that is not known, any call of the program."""
    if frame.given is not None:
        given = frame.given.get(name)
        if given is None:
            return _default(one, name, frame)
        return one.value(given.value, given.frame) if not given.path else None
    function = frame.function
    if name in ("self", "cls") or _handed_on(one, function):
        return None
    sites = one.objects.callers(function)
    if not sites or len(sites) >= MOST_SITES:
        return None
    found: list[Values] = []
    for site, bound in sites:
        outer = Frame(site.function, None, frame.depth + 1)
        given = (called(function, site.call, outer, bound).given or {}).get(name)
        if outer.too_deep or (given is not None and given.path):
            return None
        found.append(_default(one, name, frame) if given is None else one.value(given.value, outer))
    return union(found)


def _handed_on(one: OneRank, function: Function) -> bool:
    """The function is named where it is not called: somebody else may call it, with anything."""
    return function.name in one.index.handed_on and function.name != "__init__"


def _default(one: OneRank, name: str, frame: Frame) -> Values:
    value, outer = frame.function.defaults.get(name), frame.function.parent
    if value is None or outer is None:
        return None
    with one.imported():
        return one.value(value, Frame(outer, None, frame.depth + 1))
