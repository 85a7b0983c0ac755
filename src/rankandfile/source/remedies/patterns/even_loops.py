"""Even loops: ranks that go round unequally often go round together, as often as the one with the least."""

from __future__ import annotations

import ast

from rankandfile.source.dependence import why
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import OF_DICTS, PARTS, argument, is_range
from rankandfile.source.effects.loud import Runs, effects_of
from rankandfile.source.lines.of_two_cohorts.filled_collection import parts_of_a_model
from rankandfile.source.remedies.each_its_own import own_sync, without_sync
from rankandfile.source.remedies.ends_of_loops.asked_again import asked_again
from rankandfile.source.remedies.ends_of_loops.tried_again import tried_again
from rankandfile.source.remedies.patch import Refusal
from rankandfile.source.remedies.pattern import PATHS, Draft, Pattern, spelling
from rankandfile.source.remedies.place_to_mend import PlaceToMend
from rankandfile.source.remedies.reach import POINT_TO_POINT, UNKNOWN, collective, resolve
from rankandfile.source.remedies.words import quoted

_ORDERING = {"sorted", "set", "frozenset"}


_DEEPEST = 3

#: What a dictionary, a module or `torch.autograd.grad` hands out: each item is somebody's own.
_NAMED = {*PARTS, *OF_DICTS, "state_dict", "grad"}


def make(place: PlaceToMend, plain: bool) -> Draft | Refusal | None:
    node = place.node
    if not isinstance(node, (ast.For, ast.comprehension)):
        return None
    items = node.iter
    if place.problem.cause == "order_inversion":
        return None
    name = items.func.id if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) else ""
    if name in _ORDERING:
        return None  # as many items, in another order
    if _named(place, items) or _keyed(place, node) or parts_of_a_model(place.in_program, items):
        return Refusal(
            "even_loops",
            f"{quoted(place.module, items)} are things with a name, and not so many of a kind: to end the loop early "
            "would leave some out, and pair what belongs to others. Let all ranks hold the same ones, in one order.",
        )
    if isinstance(node, ast.For) and _does_it_itself(place, node):
        return Refusal(
            "even_loops",
            f"what is done in a round over {quoted(place.module, items)} is what the item itself does, or says: the "
            "ranks hold other ones, or in another order, and to end the loop early would leave some out, but pair no "
            "two that belong together. Let all ranks hold those that involve the others, in one order.",
        )
    if place.answers.nothing_for_some(items, place.in_program):
        return Refusal(
            "even_loops",
            f"whether {quoted(place.module, items)} holds anything is by what each rank is in the job: cut to the "
            "least, nobody would do what some are there for. Take out of the loop what all ranks must do.",
        )
    if (again := tried_again(place)) is not None:
        return Refusal(
            "even_loops",
            f"an exception can end the loop over {quoted(place.module, items)}, and {again[0]}:{again[1]} catches it "
            "and goes on: the ranks must agree there on whether to begin again.",
        )
    if isinstance(node, ast.For) and (flag := asked_again(place, node)) is not None:
        return Refusal(
            "even_loops",
            f"{quoted(place.module, items)} ends upon `{flag.attr}`, and so does what line {flag.lineno} asks after "
            "the loop: with one number of rounds the ranks would go different ways there. Let them agree on it where "
            "it is set.",
        )
    body: list[ast.AST] = [*node.body] if isinstance(node, ast.For) else [place.module.parents[node]]
    if isinstance(node, ast.comprehension) and not place.problem.sites and not place.events(body):
        # Nobody was seen to part here, and its rounds make no calls: cut short, it would only lose what it gathers.
        return None
    if isinstance(node, ast.For) and place.holds_all(node, place.problem.sites):
        return Refusal(
            "even_loops",
            f"all ranks were in a round of the loop over {quoted(place.module, items)} when they went different "
            "ways: it is not the number of rounds that differs, but what they do in one. Look for the decision "
            "inside.",
        )
    if isinstance(node, ast.comprehension) and isinstance(place.module.parents[node], ast.DictComp):
        return Refusal(
            "even_loops",
            f"the ranks have keys of their own in {quoted(place.module, items)}: cut to one length, values of "
            "different keys would be taken for one. Give every rank the same keys, with a value for those that it "
            "has not met.",
        )
    if isinstance(node, ast.For) and _parts_of_one_step(place, node):
        return Refusal(
            "even_loops",
            f"the rounds over {quoted(place.module, items)} are parts of one step, and one of them alone exchanges "
            "gradients (`no_sync`): cut to the least, that one may be left out, and all would step by their own. "
            "Choose it by the step's last round, and give a rank without a batch an empty one.",
        )
    if isinstance(node, ast.For) and (test := own_sync(place, [*node.body])) is not None:
        return Refusal(
            "even_loops",
            f"which rounds over {quoted(place.module, items)} exchange gradients is decided upon "
            f"`{ast.unparse(test)}`: equally many rounds have unequally many calls. Let the ranks agree on that, too.",
        )
    if is_range(items) and all(
        why(place.code.program, place.in_program, one).level == "uniform" for one in items.args
    ):
        return None  # all go round as often
    if is_range(items) and any(event.name in POINT_TO_POINT for event in place.events(body)):
        return Refusal(
            "even_loops",
            f"each round over {quoted(place.module, items)} hands something on to another rank: with the least of "
            "their numbers, what others still need would not come round. Let all go round as often as the one with "
            "the most, also those that have no use for what comes.",
        )
    group = place.group(body)
    if group == UNKNOWN:
        return Refusal(
            "even_loops",
            f"the ranks that must go round {quoted(place.module, items)} equally often form a group without "
            "a name at this place: agree on the number of rounds over that group.",
        )
    say = spelling(place, plain)
    if is_range(items) and len(items.args) == 1:
        count = items.args[0]
        say.edits.expression(count, say.fewest(place.module.source(count), group))
        return Draft(
            say.edits,
            "Agree on the number of rounds",
            f"{quoted(place.module, count)} is not the same number on every rank, and each round has calls "
            "that all must make. The ranks now agree on the smallest of their numbers before the first "
            "round.",
            "If the number comes from a setting, it should be one setting for the job: read it on one "
            "rank, and hand it to the others.",
        )
    say.edits.expression(items, say.in_step(place.module.source(items), group))
    return Draft(
        say.edits,
        "Stop all ranks with the one that has the least",
        f"{quoted(place.module, items)} does not hold equally many items on every rank, and each round has "
        "calls that all must make. The loop now ends on all ranks when the first has no item left.",
        "Items that other ranks still have are left over. Cut or pad the shards to one length where none "
        "may be lost; torch's Join goes on with the ranks that have some, for DDP alone.",
    )


def _named(place: PlaceToMend, items: ast.expr, depth: int = _DEEPEST) -> bool:
    """They are such, or are paired with such: `zip(weights, gradients)`."""
    if isinstance(items, ast.Name):
        made = [d.value for d in reaching(place.in_program).everywhere(items.id)]
        return depth > 0 and len(made) == 1 and made[0] is not None and _named(place, made[0], depth - 1)
    if isinstance(items, ast.Call) and isinstance(items.func, ast.Name):
        return any(_named(place, one, depth) for one in items.args)  # enumerate(...), list(...), zip(...)
    return isinstance(items, ast.Call) and isinstance(items.func, ast.Attribute) and items.func.attr in _NAMED


def _logs_under(part: ast.AST, target: ast.expr) -> bool:
    """`self.log(name, value)`: what is reduced of the item is kept under a name that it brings."""
    if not (isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "log"):
        return False
    name = argument(part, 0, "name")
    brought = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
    return name is not None and any(isinstance(n, ast.Name) and n.id in brought for n in ast.walk(name))


def _does_it_itself(place: PlaceToMend, node: ast.For) -> bool:
    """An item is called, or a method of the program's own that leads to a collective: a hook, a layer; or the item says
    what is called: `SHARE[task.kind](task)`."""
    targets = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
    for part in (part for each in node.body for part in ast.walk(each)):
        if not isinstance(part, ast.Call):
            continue
        if isinstance(part.func, ast.Name) and part.func.id in targets:
            return True
        chosen = ast.walk(part.func.slice) if isinstance(part.func, ast.Subscript) else ()
        says = any(isinstance(each, ast.Name) and each.id in targets for each in chosen)
        if says and any(
            isinstance(effect, Runs) for effect in effects_of(place.code.program).of.get(part, ())
        ):
            return True
        owner = part.func.value if isinstance(part.func, ast.Attribute) else None
        own = isinstance(owner, ast.Name) and owner.id in targets
        if (
            own
            and resolve(place.code, place.module, part.func)
            and any(map(collective, place.events([part])))
        ):
            return True
    return False


def _parts_of_one_step(place: PlaceToMend, node: ast.For) -> bool:
    """Batches are accumulated in the loop, and the step is made behind it."""
    steps = any(event.name == "step" for event in place.events(node.body))
    behind = any(event.name == "step" for event in place.events(place.rest(node)))
    return behind and not steps and without_sync(place, [*node.body])


def _keyed(place: PlaceToMend, node: ast.For | ast.comprehension) -> bool:
    """The items are keys, of what the loop goes over or of something else."""
    whole, target = ast.unparse(node.iter), ast.unparse(node.target)
    inside = [part for body in node.body for part in ast.walk(body)] if isinstance(node, ast.For) else []
    if not is_range(node.iter) and any(
        isinstance(n, ast.Subscript) and ast.unparse(n.slice) == target for n in inside
    ):
        return True
    if any(_logs_under(part, node.target) for part in inside):
        return True
    for part in place.module.nodes:
        if (
            isinstance(part, ast.Subscript)
            and ast.unparse(part.value) == whole
            and ast.unparse(part.slice) == target
        ):
            return True
        if isinstance(part, ast.Attribute) and part.attr in _NAMED and ast.unparse(part.value) == whole:
            return True
    return False


ORDER = 50
PATTERN = Pattern("even_loops", PATHS, make, meets=True)
