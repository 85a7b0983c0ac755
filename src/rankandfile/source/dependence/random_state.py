"""Random numbers: the same on all ranks if every rank seeds alike and draws alike."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.registry.tables import source

from . import origins
from .frame import Frame
from .syntax import argument, text
from .value import UNKNOWN, Link, Value, join

if TYPE_CHECKING:
    from .evaluate import Evaluator

_TORCH = {
    "rand",
    "randn",
    "randint",
    "randperm",
    "bernoulli",
    "multinomial",
    "normal",
    "rand_like",
    "randn_like",
}
_OBJECTS = {"random.Random", "numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator"}


def family(name: str) -> str | None:
    """The generator of the process that a function draws from."""
    module, _, function = name.rpartition(".")
    if module == "torch" and function in _TORCH:
        return "torch"
    if module in ("random", "numpy.random") and source(name) is not None:
        return "python" if module == "random" else "numpy"
    return None


def draw(ev: Evaluator, name: str, e: ast.Call, frame: Frame) -> Value:
    """A number drawn from a generator of the process, or from the one that is passed."""
    generator = argument(e, "generator")
    if generator is not None:
        return join([UNKNOWN, ev.value(generator, frame).of_data("rng")])
    mine = family(name)
    values = []
    for which, site in ev.index.seeds:
        if which in (mine, "all"):
            outer = Frame(site.function, None, frame.depth + 1)
            seed = site.call.args[0] if site.call.args else None
            value = ev.value(seed, outer) if seed is not None and not outer.too_deep else UNKNOWN
            file, shown = site.function.module.path, text(site.call, 60)
            link = Link(
                file,
                site.call.lineno,
                text(e),
                f"is drawn after `{shown}` ({file}:{site.call.lineno})",
                shown,
            )
            values.append(value.of_data("rng").by(link))
    if values:
        # Seeded alike is not yet drawn alike.
        return join([UNKNOWN, *values])
    if mine == "torch":
        return UNKNOWN
    return origins.here(
        "rng", "drawn from a generator that nobody seeds, different in every process", e, frame
    )


def is_draw(ev: Evaluator, e: ast.Call, frame: Frame) -> bool:
    assert isinstance(e.func, ast.Attribute)
    return any(name in _OBJECTS for name in ev.objects.externals(e.func.value, frame))


def draw_of_object(ev: Evaluator, e: ast.Call, frame: Frame) -> Value:
    """A number drawn from a generator object, by the seed that it was made with."""
    assert isinstance(e.func, ast.Attribute)
    values: list[Value] = [UNKNOWN]
    for instance in ev.objects.of(e.func.value, frame):
        if instance.type in _OBJECTS and instance.made is not None:
            made = instance.made
            if not made.args and not made.keywords:
                values.append(origins.here("rng", "a generator without a seed", made, instance.frame))
                continue
            file = instance.frame.function.module.path
            link = Link(
                file,
                made.lineno,
                text(e),
                f"is drawn from `{text(made, 60)}` ({file}:{made.lineno})",
                text(made, 60),
            )
            seed = ev.all([*made.args, *(k.value for k in made.keywords)], instance.frame)
            values.append(seed.of_data("rng").by(link))
    return join(values)
