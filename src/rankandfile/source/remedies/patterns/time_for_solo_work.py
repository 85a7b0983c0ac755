"""Time for solo work: what one rank does alone, the others wait for outside of any collective, and long enough."""

from __future__ import annotations

import ast
import textwrap

from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend, leaves
from rankandfile.source.remedies.rank_tests import is_rank_test
from rankandfile.source.remedies.reach import collective
from rankandfile.source.remedies.words import quoted

_SECONDS = 7200
_WAIT = '''
def {name}(seconds, groups=[]):
    """Wait for all ranks in a group of its own, with a timeout of its own."""
    if not groups:
        groups.append({dist}.new_group(backend="gloo", timeout=timedelta(seconds=seconds)))
    {dist}.barrier(group=groups[0])
'''


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = _work_of_one(place)
    if node is None:
        return None
    if any(collective(event) for event in place.events(node.body)):
        return Refusal(
            "time_for_solo_work",
            f"what is under {quoted(place.module, node.test)} involves other ranks: take that out first, "
            "and give the rest the time that it needs.",
        )
    say = spelling(place, plain)
    if plain:
        wait = say.helper("wait_for_solo_work", _WAIT)
        say.edits.imports.append("from datetime import timedelta")
        say.edits.after(node, f"{wait}({_SECONDS})")
    else:
        body = "".join(place.module.lines_of(statement) for statement in node.body)
        say.edits.replace(
            node,
            f"with {say.guard()}.solo(timeout={_SECONDS}) as mine:\n    if "
            f"mine:\n{textwrap.indent(body, ' ' * 8)}",
        )
    return Draft(
        say.edits,
        "Wait for the solo work outside of the job's groups",
        f"What is under {quoted(place.module, node.test)} takes one rank longer than the timeout of the "
        "call in which the others wait for it. They now wait for it alone, with a timeout of its own.",
        f"{_SECONDS} seconds are a guess: the longest that the work may take. Better still is to do it "
        "before the job.",
    )


def _work_of_one(place: PlaceToMend) -> ast.If | None:
    """`if rank == 0:` around the place, without another way out."""
    nodes = [place.node, *place.module.enclosing(place.statement())]
    for node in nodes:
        if not isinstance(node, ast.If) or node.orelse or leaves(node.body):
            continue
        if _is_zero(node.test) and is_rank_test(place.code, place.module, node.test):
            return node
    return None


def _is_zero(test: ast.expr) -> bool:
    """`... == 0`"""
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq)):
        return False
    other = test.comparators[0]
    return isinstance(other, ast.Constant) and other.value == 0


ORDER = 140
PATTERN = Pattern("time_for_solo_work", frozenset({"host_slow", "too_short_timeout"}), make)
