"""A lock that a data worker inherits as it was when its process was forked: held, if a thread of its parent held it.

    class Scratch:
        def fetch_all(self, names):                 # Thread(target=self.fetch_all)
            with self.lock: ...
        def path(self, name):                       # called by Dataset.__getitem__
            with self.lock: ...                     # in a worker nobody ever lets go of it

In the worker that thread does not exist. No recorder and no stack of the parent shows the worker; the source shows a
lock that is taken both by what makes an item and by what another thread of the process runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from rankandfile.model.heuristics import heuristic
from rankandfile.source.dependence import Reason
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.index import Site
from rankandfile.source.dependence.objects.called_later import targets_of
from rankandfile.source.dependence.objects.frameworks_own import outside
from rankandfile.source.dependence.objects.functions_held import functions_held
from rankandfile.source.dependence.syntax import constant
from rankandfile.source.effects.wrapped import last_name
from rankandfile.source.lines.found_line import FoundLine, Search
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import Class, enclosing_class
from rankandfile.source.program.places import SourcePlace, place_in
from rankandfile.source.program.scopes import own_nodes

_DATASETS = {"torch.utils.data.Dataset", "torch.utils.data.IterableDataset"}
_MAKES = ("__getitem__", "__getitems__", "__iter__", "__next__")
_LOCKS = {f"threading.{kind}" for kind in ("Lock", "RLock", "Condition", "Semaphore", "BoundedSemaphore")}
_THREADS = {"Thread", "Timer", "submit", "to_thread", "run_in_executor", "start_new_thread"}
#: Ways to start a process that inherits no lock.
_ANEW = {"spawn", "forkserver"}
_MOST_FUNCTIONS = 200
_HELD = "taken by what makes an item in a worker, and by a thread that may have held it when the worker was forked"
Lock = tuple[object, str]
"""A class or a module, and the name under which it has the lock."""


@heuristic("inherited lock", "a data worker may wait for a lock that another thread held when it was forked")
def inherited_lock(search: Search) -> FoundLine | None:
    """The nearest place at which what makes an item takes the one lock that a thread takes, too."""
    if _started_anew(search):
        return None
    made = list(_taken(search, _reached(search, _makers(search))))
    others = dict(_taken(search, _reached(search, _in_threads(search))))
    both = [(lock, place) for lock, place in made if lock in others]
    if len({lock for lock, _ in both}) != 1:
        return None
    lock, place = both[0]
    story = (
        "Nobody took its data worker's stack. A worker is forked with its parent's locks as they are, and a thread "
        f"that holds one is not in it: `{lock[1]}` is taken by a thread ({others[lock].at(others[lock].line)}) and by "
        "what makes an item. If the worker was forked meanwhile, it waits for ever at "
        f"{place.at(place.line)}."
    )
    text = place.module.code_at(place.line)
    why = Reason(level="varying", source="thread", sentence=f"`{text}` ({place.at(place.line)}) is {_HELD}")
    return FoundLine(place, place.line, text, why, kind="inherited", story=story)


def _started_anew(search: Search) -> bool:
    index = search.objects.index
    ways = [
        argument.value
        for name, keyword in (("DataLoader", "multiprocessing_context"), ("get_context", "method"))
        for site in index.calls(name)
        for argument in site.call.keywords
        if argument.arg == keyword
    ]
    ways += [
        arg for name in ("set_start_method", "get_context") for s in index.calls(name) for arg in s.call.args
    ]
    return any(constant(way) in _ANEW for way in ways)


def _makers(search: Search) -> Iterator[Function]:
    yield from (function for name in _MAKES for function in _methods(search, name, _DATASETS))


def _in_threads(search: Search) -> Iterator[Function]:
    yield from _methods(search, "run", {"threading.Thread"})
    for sites in search.objects.index.handed_over.values():
        for site, given in sites:
            if last_name(site.call.func) in _THREADS:
                yield from functions_held(search.objects, site.function, given)


def _methods(search: Search, name: str, of: set[str]) -> Iterator[Function]:
    """Of classes that derive from one of these of a library."""
    for module in search.objects.index.modules:
        for function in module.functions:
            owner = (
                Class(module, function.owner)
                if function.owner is not None and function.name == name
                else None
            )
            if owner is not None and of & set(outside(owner)):
                yield function


def _reached(search: Search, begin: Iterable[Function]) -> list[Function]:
    """These functions and what they call, the nearest first."""
    found: dict[Function, None] = {}
    queue = list(begin)
    while queue and len(found) < _MOST_FUNCTIONS:
        function = queue.pop(0)
        if function in found:
            continue
        found[function] = None
        for node in own_nodes(function):
            if isinstance(node, ast.Call):
                queue.extend(targets_of(search.objects, Site(function, node)))
    return list(found)


def _taken(search: Search, functions: Iterable[Function]) -> Iterator[tuple[Lock, SourcePlace]]:
    """The locks that they take without a limit."""
    for function in functions:
        for node in own_nodes(function):
            for taken in _takes(node):
                lock = _lock(function, taken)
                if lock is not None and _LOCKS & set(search.objects.externals(taken, Frame(function))):
                    yield lock, place_in(function, taken.lineno)


def _takes(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.With):
        return [item.context_expr for item in node.items]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "acquire":
        return [] if node.args or node.keywords else [node.func.value]
    return []


def _lock(function: Function, e: ast.expr) -> Lock | None:
    """`self.lock` of a class, `LOCK` of a module."""
    if isinstance(e, ast.Name):
        return function.module, e.id
    own = enclosing_class(function)
    if (
        isinstance(e, ast.Attribute)
        and isinstance(e.value, ast.Name)
        and e.value.id == "self"
        and own is not None
    ):
        return own, e.attr
    return None
