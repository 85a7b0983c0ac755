"""What is known about a value on all ranks together: a lattice, and the way back to what makes it differ.

uniform < unknown < varying along axes < varying. A decision made of one varying and one unknown part can differ,
whatever the unknown part is, so for what may be claimed "unknown" stands below "varying".

| expression | its value |
| --- | --- |
| `config.steps` | uniform: read alike on every rank |
| `rank % 8` | varying, from the rank's own number |
| `local_loss > limit` | varying, from this rank's batches: the chain says by which assignments |
| the same after `all_reduce` over all ranks | uniform |
| the same after `all_reduce` over the tensor-parallel group | varying, agreed over that group |
| `find(x)` of a library that nobody knows | unknown |
| `rank > 0 and find(x)` | varying: `join` of varying and unknown |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

Level: TypeAlias = Literal["uniform", "axes", "varying", "unknown"]

_ORDER: dict[Level, int] = {"uniform": 0, "unknown": 1, "axes": 2, "varying": 3}
LONGEST_CHAIN = 12


LinkKind: TypeAlias = Literal[
    "",
    "another name",
    "upon a test",
    "upon an exception",
    "as often as a test says",
    "under a key",
    "own number",
    "own batches",
    "own shard",
    "own data",
    "met alone",
    "gradient",
]
"""What else is asked of a step: it gives the same under another name; it was done or not, as a test or the handler of
an exception decides; it comes from the number or from the data of the rank; nobody but this rank met it."""


class Link(Struct, frozen=True):
    """One step of the way: "`subject` verb"; `mention` is the thing that the verb ends with, if it ends with one."""

    file: str
    line: int
    subject: str
    verb: str
    mention: str = ""
    upon: tuple[str, int] | None = None
    """File and line of the decision upon which something that lives on was changed, or was not."""
    kind: LinkKind = ""


class Value(Struct, frozen=True):
    level: Level
    axes: frozenset[str] = frozenset()
    agreed: frozenset[str] = frozenset()
    """Groups over which it was reduced or broadcast."""
    source: str = ""
    chain: tuple[Link, ...] = ()

    @property
    def differs(self) -> bool:
        return self.level in ("axes", "varying")

    def by(self, link: Link) -> Value:
        """The same value, one step further from its source."""
        if not self.differs or (self.chain and self.chain[0] == link):
            return self
        return replace(self, chain=(link, *self.chain)[:LONGEST_CHAIN])

    def of_data(self, source: str = "local_data") -> Value:
        """What was chosen, drawn or made by the rank's number is this rank's own data, and no longer its number."""
        return replace(self, source=source) if self.differs and self.source == "rank_api" else self

    def sanitised(self, axes: frozenset[str] | None) -> Value:
        """After all members of a group were given the same value; None: all ranks are members."""
        if axes is None:
            return UNIFORM
        if self.level == "axes":
            left = self.axes - axes
            return replace(self, axes=left) if left else UNIFORM
        return replace(self, agreed=self.agreed | axes) if self.level == "varying" else self


#: What ranks read is mostly the same file: what each made of it by its number is what differs.
_OWN_AND_READ = {"local_data", "file_system"}
#: Kinds of which only the order is another one on each rank: the items are the same.
ORDERS = frozenset({"set_order", "arrival"})
UNIFORM = Value("uniform")
UNKNOWN = Value("unknown")


def join(values: Iterable[Value]) -> Value:
    """The value of something made of all of them."""
    result = UNIFORM
    for value in values:
        result = _join(result, value)
    return result


def _join(one: Value, other: Value) -> Value:
    if one.level == other.level == "axes":
        return replace(one, axes=one.axes | other.axes)
    if one.level == other.level == "varying":
        better = one if len(one.chain) <= len(other.chain) else other
        if {one.source, other.source} == _OWN_AND_READ:
            better = one if one.source == "local_data" else other
        return replace(better, agreed=one.agreed & other.agreed)
    return one if _ORDER[one.level] >= _ORDER[other.level] else other
