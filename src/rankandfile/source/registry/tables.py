"""All tables as one, and the name under which the tables know a dotted name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from msgspec.structs import asdict

from . import (
    deepspeed,
    guard,
    huggingface,
    ignite,
    lightning,
    megatron,
    monai,
    other_launchers,
    python,
    torch_c10d,
    torch_parallel,
    torchmetrics,
)
from .entry import Sanitiser, Source, Table

_TABLES = [
    module.TABLE
    for module in (
        torch_c10d,
        torch_parallel,
        deepspeed,
        lightning,
        huggingface,
        ignite,
        torchmetrics,
        monai,
        other_launchers,
        guard,
        megatron,
        python,
    )
]

UNMISTAKABLE = {"full_tensor": "torch.distributed.tensor.DTensor.full_tensor"}
"""Methods of one library alone: whose object it is need not be known, unless the program has one of that name."""


def _merged() -> Table:
    merged = Table(
        uniform=frozenset().union(*(table.uniform for table in _TABLES)),
        perhaps=frozenset().union(*(table.perhaps for table in _TABLES)),
        properties=frozenset().union(*(table.properties for table in _TABLES)),
        pairwise=frozenset().union(*(table.pairwise for table in _TABLES)),
    )
    for table in _TABLES:
        for name, entries in asdict(table).items():
            if isinstance(entries, dict):
                getattr(merged, name).update(entries)
    return merged


TABLE = _merged()


def also_collectives(names: Iterable[str]) -> None:
    """Functions of a library that only the job's people know: each call of one is a collective. Until it is said anew:
    the next job of this process has a library of its own."""
    for name in _ALSO:
        del TABLE.collectives[name]
    _ALSO[:] = [name for name in dict.fromkeys(names) if name not in TABLE.collectives]
    TABLE.collectives.update({name: f"{name.rpartition('.')[2]} issues a collective" for name in _ALSO})


def also_uniform(names: Iterable[str]) -> None:
    """Functions of which the job's people know that they return the same on every rank. For this process."""
    _UNIFORM.update(names)


_UNIFORM: set[str] = set()
_ALSO: list[str] = []


@cache
def canonical(dotted: str) -> str:
    """The name that the tables use for something that can be imported from several places."""
    for _ in range(3):
        for prefix, name in TABLE.aliases.items():
            if dotted == prefix or dotted.startswith(prefix + "."):
                renamed = name + dotted[len(prefix) :]
                break
        else:
            break
        if renamed == dotted or renamed.startswith(dotted + "."):
            break
        dotted = renamed
    return _of_family(dotted)


def _of_family(dotted: str) -> str:
    """A class of a package whose classes are all of one kind; functions and modules stay what they are."""
    for package, base in TABLE.families.items():
        if dotted.startswith(package + "."):
            parts = dotted.split(".")
            place = next((n for n, part in enumerate(parts) if part[:1].isupper()), None)
            return dotted if place is None else ".".join([base, *parts[place + 1 :]])
    return dotted


def source(dotted: str) -> Source | None:
    return TABLE.sources.get(canonical(dotted))


def sanitiser(dotted: str) -> Sanitiser | None:
    return TABLE.sanitisers.get(canonical(dotted))


def is_uniform(dotted: str) -> bool:
    return canonical(dotted) in TABLE.uniform or dotted in _UNIFORM


def is_pure(dotted: str) -> bool:
    return dotted.startswith(python.PURE) and not dotted.startswith(python.NOT_PURE)
