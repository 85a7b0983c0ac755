"""What the program's source tells before anything is concluded: what stands on the lines that stacks stand on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field


class CodeRead(Struct, frozen=True, kw_only=True):
    lines: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """The text of a line, by the file as the process saw it and its number: for a call into C leaves no frame."""
    loops: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """Of lines that a loop of their function goes over, the first line of the outermost such loop."""
    makes_groups: bool | None = None
    """The program makes groups beside that of all ranks; None: nobody read it."""
    sets_up_all: frozenset[tuple[str, int]] = frozenset()
    """Lines that set up the job's communication for as many ranks as were started, or as all ranks agree on."""
    own_roots: frozenset[tuple[str, int]] = frozenset()
    """Lines whose calls take for their root what each rank works out from its own data."""
    own_types: frozenset[tuple[str, int]] = frozenset()
    """Lines whose calls get a tensor of the type that a rank's own Python value happens to have."""
    groups: Mapping[str, frozenset[tuple[int, ...]]] = field(default_factory=dict)
    """By what groups are called, which ranks those of this name have: where the program works that out by numbers."""
    between: Mapping[tuple[str, int, int], Mapping[str, tuple[str, str, int]]] = field(default_factory=dict)
    """By two lines of one function at which ranks stand: the kinds of calls that are made between these alone, with the
    function, file and line that makes them. Read where records carry no frames."""
    untold_transfers: bool = False
    """The program makes transfers in groups of its own, or lets go of its sends: gloo's numbers of one group do not
    tell then that every message has been sent that somebody waits for."""
    peers: Mapping[int, int] = field(default_factory=dict)
    """By rank, whom the send or receive is with in which it was seen."""

    def members_of(self, desc: str | None, users: Iterable[int]) -> tuple[int, ...] | None:
        """The one list of ranks of this name that has all of these."""
        users = {*users}
        able = [ranks for ranks in self.groups.get(desc or "", ()) if users <= {*ranks}]
        return able[0] if len(able) == 1 else None


NO_CODE = CodeRead()
