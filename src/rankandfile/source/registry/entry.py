"""What a table of the registry says about a name."""

from __future__ import annotations

from msgspec import Struct, field

OWN_NUMBER = "the rank's own number"


class Source(Struct, frozen=True):
    """A name whose value is one rank's own."""

    kind: str
    words: str
    """A noun phrase, as in "which is `words`"."""
    along: str = ""
    """The mesh axis along which the value varies: the name of the parameter that gives it, "=axis" for a fixed one, "*"
    for a tuple with one place for every axis."""
    group: bool = False
    """The value is a position within the group that is passed: it varies along that group."""
    unless: tuple[str, ...] = ()
    """Words of a program by which it may well make them equal: then nothing is known."""

    @property
    def gives_number(self) -> bool:
        """Just that: no place along an axis, and not whether it is the first."""
        return self.words == OWN_NUMBER


class Sanitiser(Struct, frozen=True):
    """A call after which the members of a group hold the same value."""

    returned: bool = False
    in_place: tuple[int | str, ...] = ()
    """The arguments, by place or name, that hold the same value afterwards."""
    group: tuple[int | str, ...] = ("group",)
    """The argument that gives the group; without it, all ranks."""
    world: bool = False
    """The group cannot be chosen: it is always all ranks."""


class Flag(Struct, frozen=True):
    """An attribute that a framework's loop asks."""

    words: str
    """As in "Lightning `words` upon it"."""
    inside: frozenset[str]
    """Functions of the framework of which a rank that went one way is inside of more than one that went the other."""
    leaves: bool = False
    """The rank on which it is set is the one that is not inside."""


class Ender(Struct, frozen=True):
    """What ends a framework's loop on one rank, and asks no other."""

    words: str
    """As in "where `words`"."""
    inside: frozenset[str]
    """Functions of the framework that a rank in the loop is inside of."""
    upon: Source | None = None
    """What a handler asks; None: what stands around the call, or nothing is known of it."""


class Table(Struct, frozen=True):
    """What one framework's names mean. Names are dotted; `a.B.m` is the method or property `m` of class `a.B`."""

    sources: dict[str, Source] = field(default_factory=dict)
    sanitisers: dict[str, Sanitiser] = field(default_factory=dict)
    collectives: dict[str, str] = field(default_factory=dict)
    """Name -> what a call of it does to the other ranks, in words."""
    perhaps: frozenset[str] = frozenset()
    """Those of the collectives that are one under some settings only: with sharded parameters, with `sync_dist` ..."""
    anew: dict[str, str] = field(default_factory=dict)
    """Collectives that answer from what the object kept -> its attribute that says whether there is anything new."""
    fills: dict[str, tuple[tuple[int | str, ...], tuple[int | str, ...]]] = field(default_factory=dict)
    """Calls that fill one of their arguments with what they read -> its places or names; those of what tells where, or
    none where each rank is sent its own."""
    properties: frozenset[str] = frozenset()
    """Those of the collectives that are called by reading an attribute."""
    pairwise: frozenset[str] = frozenset()
    """Those that two ranks do with each other, and not all members of a group alike."""
    group_at: dict[str, int] = field(default_factory=dict)
    """Collective -> the place of its argument `group`."""
    wraps: dict[str, str] = field(default_factory=dict)
    """Callables that return their first argument, made parallel -> the name of what they make of it."""
    forward: dict[str, str] = field(default_factory=dict)
    """Wrapper -> what calling the wrapped module does."""
    backward: dict[str, str] = field(default_factory=dict)
    """Wrapper -> what `backward()` on a loss of the wrapped module does."""
    uniform: frozenset[str] = frozenset()
    """Names with the same value on every rank."""
    makes: dict[str, str] = field(default_factory=dict)
    """Functions that make an object -> its class."""
    holds: dict[str, str] = field(default_factory=dict)
    """Variables of a package that hold an object -> its class."""
    groups: dict[str, str] = field(default_factory=dict)
    """Calls that return a group -> the axis that it spans."""
    families: dict[str, str] = field(default_factory=dict)
    """Package -> the class that every class of it is a kind of."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Other places that a name can be imported from -> the name of the tables; prefixes."""
    flags: dict[str, Flag] = field(default_factory=dict)
    """Attribute that a callback may store into -> what the framework does upon it."""
    ends: dict[str, Ender] = field(default_factory=dict)
    """Class of a framework's handlers, or method or attribute of its loop -> how it ends the loop on a rank that comes
    to it, or stores into it."""
    hooks: dict[str, dict[str, str | Source]] = field(default_factory=dict)
    """Base class -> the names of its hooks' parameters, and the class or the kind of value that each is given. Those
    of a class come first, in the order in which every hook is given them."""
    upon_exceptions: dict[str, str] = field(default_factory=dict)
    """Hook that a framework calls upon an exception alone, by its base class -> that it does, in words."""
    handed: dict[str, tuple[str | Source, ...]] = field(default_factory=dict)
    """Callable that is handed a function -> what it gives that one, by place: a class's name or a kind of value."""
    counts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Attribute of an object that tells how often, or whether, one of its methods was called -> those methods."""
    internals: dict[str, str] = field(default_factory=dict)
    """A function of the framework's own, as a stack names it -> what is going on, in words."""
