"""Claims: what a verdict states, one checked statement each. Sentences, waits and cohort lines are rendered from them.

A claim says of some ranks what they did or where they are, by what stands in the case's tables. Each kind has its
check in `rankandfile.reason.claims`, which derives it again from those tables; what does not hold is not said.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from .ranks import parse_ranks


def _tag(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


class Base(msgspec.Struct, kw_only=True, tag_field="claim", tag=_tag):
    ranks: str
    evidence: list[str] = msgspec.field(default_factory=list)
    """The first id is the record, line or stack that the claim was read from."""

    @property
    def who(self) -> str:
        return f"rank {self.ranks}" if self.ranks.isdigit() else f"ranks {self.ranks}"

    def verb(self, one: str, many: str) -> str:
        return one if self.ranks.isdigit() else many


class OfCall(Base, kw_only=True):
    """About one call of a group. `seq` is null for a send or a receive, and where ranks number it differently."""

    group: str
    seq: int | None = None
    op: str | None = None
    file: str | None = None
    line: int | None = None

    @property
    def call(self) -> str:
        number = "" if self.seq is None else f" #{self.seq}"
        place = (
            ""
            if self.file is None
            else f" at {self.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{self.line}"
        )
        return f"{self.op or 'a call'}{number}{of_group(self.group)}{place}"


#: What stands in place of a group's name where no line names it.
UNNAMED = "not named in the lines"


def of_group(group: str) -> str:
    """
    >>> of_group("tp"), of_group("not named in the lines, 2")
    (' of tp', '')
    """
    return "" if group.startswith(UNNAMED) else f" of {group}"


class InCall(OfCall, kw_only=True):
    """It made this call, and the call has not ended for it."""

    def __str__(self) -> str:
        return f"{self.who} {self.verb('waits', 'wait')} in {self.call}"


class Issued(OfCall, kw_only=True):
    """It made this call."""

    def __str__(self) -> str:
        return f"{self.who} issued {self.call}"


class Joined(OfCall, kw_only=True):
    """It came to this call, which it or its device has still other work before."""

    def __str__(self) -> str:
        return f"{self.who} joined {self.call}"


class NeverIssued(OfCall, kw_only=True):
    """It has not come to this call, as its own whole record shows, or its log, or that its process was gone."""

    wanted_by: int | None = None
    """The rank whose send or receive has no other half."""

    def __str__(self) -> str:
        return f"{self.who} never issued {self.call}"


class Unseen(OfCall, kw_only=True):
    """Nothing tells whether it came to this call."""

    def __str__(self) -> str:
        return f"nothing tells whether {self.who} came to {self.call}"


class LeftOut(OfCall, kw_only=True):
    """It did not make this call, and went on with what follows it."""

    def __str__(self) -> str:
        return f"{self.who} left out {self.call}"


class ExtraCall(OfCall, kw_only=True):
    """It made this call, which the other members do not make there."""

    def __str__(self) -> str:
        return f"{self.who} made {self.call}, which the others do not make there"


class OtherCall(OfCall, kw_only=True):
    """It made this call where the other members made another."""

    def __str__(self) -> str:
        return f"{self.who} made {self.call} where the others made another call"


class Value(msgspec.Struct, kw_only=True):
    ranks: str
    value: str


class Differs(OfCall, kw_only=True):
    """The members gave this call different values."""

    what: Literal["op", "size", "dtype", "root", "reduction"]
    values: list[Value]

    def __str__(self) -> str:
        told = "; ".join(f"{one.ranks}: {one.value}" for one in self.values)
        return f"the {self.what} differs in {self.call} ({told})"


class StandsAt(Base, kw_only=True):
    """Its program stood on this line when somebody looked last."""

    file: str
    line: int | None = None
    function: str | None = None
    moving: bool | None = None
    """Whether it was elsewhere in another look; null: seen once."""

    def __str__(self) -> str:
        how = {None: "", True: ", moving", False: ", not moving"}[self.moving]
        return f"{self.who} {self.verb('stands', 'stand')} at {self.file}:{self.line}{how}"


class TookBranch(Base, kw_only=True):
    """It went this way at a condition: `shown_by` is a line after it on which it was seen, of the file `shown_in`."""

    file: str
    line: int
    truth: bool
    shown_by: int
    shown_in: str | None = None
    """None: the condition's own; another one, or a line further out, of who has left the function."""
    part: str | None = None
    """That part of the condition alone came out so; what the whole of it came to is not known."""

    def __str__(self) -> str:
        what = f"`{self.part}` in line" if self.part else "line"
        return f"{self.who} found {what} {self.line} of {self.file} {'true' if self.truth else 'false'}"


class Ended(Base, kw_only=True):
    """Its process is gone. `how`: a signal's name, or `exit code N`."""

    how: str

    def __str__(self) -> str:
        return f"{self.who} ended: {self.how}"


class Logged(Base, kw_only=True):
    """Its log has this line."""

    what: str

    def __str__(self) -> str:
        return f"{self.who} logged: {self.what}"


Claim: TypeAlias = (
    InCall | Issued | Joined | NeverIssued | Unseen | LeftOut | ExtraCall | OtherCall
    | Differs | StandsAt | TookBranch | Ended | Logged
)  # fmt: skip


def ranks_of(claim: Base) -> list[int]:
    return parse_ranks(claim.ranks)
