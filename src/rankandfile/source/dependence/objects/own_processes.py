"""Functions that the program runs in processes of its own: what each of them is given.

`mp.spawn(train, args=(size,), nprocs=4)` calls `train(0, size)` in the first process; `Process(target=train,
args=(rank, size))`, in a loop over `rank`, does the same by hand. In: a function, and one of its parameters. Out: the
expressions that are handed over for it, or that it is the number of the process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.index import Index, Site
from rankandfile.source.dependence.syntax import ancestors, argument, is_range
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.registry.tables import canonical

#: As the tables call them: torch's module of that name stands for Python's.
_SPAWN = {"multiprocessing.spawn", "multiprocessing.spawn.spawn", "multiprocessing.start_processes"}
_PROCESS = {"multiprocessing.Process", "multiprocessing.context.Process"}


def started_with(index: Index, function: Function, name: str) -> Iterator[tuple[Site, ast.expr | None]]:
    """The calls that start processes in the function, each with what is handed over for the parameter; None: the number
    of the process."""
    if name not in function.parameters:
        return
    place = function.parameters.index(name)
    for site, given in index.handed_over.get(function.name, ()):
        made = resolve(site.function, site.call.func)
        if resolve(site.function, given) is not function or not isinstance(made, External):
            continue
        spawned, named = canonical(made.dotted) in _SPAWN, canonical(made.dotted) in _PROCESS
        if spawned and place == 0:
            yield site, None
            continue
        handed = (
            argument(site.call, 1, "args") if spawned else argument(site.call, 3, "args") if named else None
        )
        at = place - 1 if spawned else place
        if isinstance(handed, (ast.Tuple, ast.List)) and at < len(handed.elts):
            value = handed.elts[at]
            yield site, None if named and _counts_them(site, value) else value


def _counts_them(site: Site, value: ast.expr) -> bool:
    """It is the number of a loop, or a comprehension, over as many as are started."""
    for outer in ancestors(site.function.module, site.call):
        loops = [outer] if isinstance(outer, ast.For) else getattr(outer, "generators", [])
        for loop in loops:
            if is_range(loop.iter) and ast.unparse(loop.target) == ast.unparse(value):
                return True
    return False
