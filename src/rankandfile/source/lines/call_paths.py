"""How a rank came to a call: the frames of the program itself, outermost first, as the evidence has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.column import Row
from rankandfile.model.ledger import call_id

#: Calls of one rank that are looked at; what matters is at the end.
MOST_CALLS = 50_000
#: Stacks that are held against the source to see whether it is what ran.
MOST_STACKS = 2_000
_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
_CALL = re.compile(r"D(\d+)#(-?\d+)$")

#: What the function of a frame begins with that stands for a run of a framework's frames; then the one that the user's
#: line called.
OPAQUE = "<framework>"


class Frame(NamedTuple):
    function: str
    file: str
    """As the process saw it."""
    line: int


CallPath: TypeAlias = tuple[Frame, ...]
"""Frames that are not torch's own, outermost first."""


def first_unlike(one: CallPath, other: CallPath, begin: int = 0) -> int | None:
    """The first depth from `begin` on at which the paths differ; None where one is the other's beginning."""
    pairs = enumerate(zip(one[begin:], other[begin:], strict=False), start=begin)
    return next((depth for depth, (mine, theirs) in pairs if mine != theirs), None)


class Stop(NamedTuple):
    """A line in the function, and the function that was called from it, where one is known."""

    line: int
    call: str | None = None


class Made(NamedTuple):
    """One call that a rank made."""

    rank: int
    op: str
    group: int
    seq: int | None
    shape: int | None
    path: CallPath
    evidence: str


class CallPaths:
    """The call paths of a case's ranks, looked up once each."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self._paths: dict[int, CallPath] = {}
        self._made: dict[int, list[Made]] = {}
        self._called: dict[Frame, set[Frame]] = {}
        self._parts: dict[int, set[int]] | None = None

    def path(self, stack: int | None) -> CallPath:
        if stack is None:
            return ()
        if stack not in self._paths:
            self._load([stack])
        return self._paths.get(stack, ())

    def called(self) -> dict[Frame, set[Frame]]:
        """Frames of the program, and those of what each was seen to call with nothing of torch in between."""
        self._load(self.case.stacks["stack"].head(MOST_STACKS).to_list())
        return self._called

    def calls(self, rank: int) -> list[Made]:
        """Its calls, in the order in which it made them."""
        if rank not in self._made:
            columns = ["rank", "op", "group", "seq", "shape", "stack", "dump", "record", "state"]
            rows = (
                self.case.calls.filter(pl.col("rank") == rank).select(columns).sort("record").tail(MOST_CALLS)
            )
            self._load(rows["stack"].drop_nulls().unique().to_list())
            made = [_made(row, self.path(row["stack"])) for row in rows.iter_rows(named=True)]
            if made and not made[-1].path and rows["state"][-1] in ("issued", "started"):
                # The recording has no frames; who waits in the call was seen in it.
                made[-1] = made[-1]._replace(path=self._seen_in(rank, made[-1].op))
            self._made[rank] = made
        return self._made[rank]

    def _seen_in(self, rank: int, op: str) -> CallPath:
        """Where its program's own thread stands, if that is in a call of this name."""
        shown = (pl.col("rank") == rank) & (pl.col("shows") == "now") & (pl.col("role") == "main")
        rows = self.case.looks.filter(shown).sort("ordinal")
        frames = self.case.stacks.filter(pl.col("stack").is_in(rows["stack"].tail(1).to_list()))["frames"]
        within = self.case.frames.filter(
            pl.col("frame").is_in(frames.explode().to_list()) & pl.col("is_torch")
        )
        names = {name.rsplit(".", 1)[-1].replace("_", "") for name in within["function"].drop_nulls()}
        return self._shown(rank, "now") if op and op.replace("_", "") in names else ()

    def cited(self, evidence: list[str]) -> tuple[int, int] | None:
        """The rank and the position, among its calls, of the first call cited."""
        for word in evidence:
            match = _CALL.match(word)
            if match is None:
                continue
            rows = self.case.calls.filter(
                (pl.col("dump") == int(match[1])) & (pl.col("record") == int(match[2]))
            )
            if rows.height:
                rank = int(rows["rank"][0])
                for position, made in enumerate(self.calls(rank)):
                    if made.evidence == word:
                        return rank, position
        return None

    def has_a_part(self, rank: int, group: int) -> bool:
        """Whether it is a member of the group, or of one that people call the same; also where that is not known."""
        if self._parts is None:
            rows = self.case.groups.select("group", "desc", "members").rows()
            of_kind: dict[str, set[int]] = {}
            for _, desc, members in rows:
                of_kind.setdefault(desc or "", set()).update(members or ())
            self._parts = {group: of_kind[desc] for group, desc, members in rows if desc and members}
        return group not in self._parts or rank in self._parts[group]

    def left(self, rank: int) -> bool:
        """The process ended by itself, as far as an exit list tells."""
        ends = self.case.exits.filter(
            (pl.col("rank") == rank) & (pl.col("state").cast(pl.String) == "exited")
        )
        return not ends.is_empty()

    def seen(self) -> list[int]:
        """Ranks whose stacks someone took."""
        looked = self.case.looks.filter((pl.col("shows") == "now") & (pl.col("role") == "main"))
        ranks: list[int] = looked["rank"].drop_nulls().unique().sort().to_list()
        return ranks

    def seen_in(self, functions: Iterable[str]) -> list[int]:
        """Of these, those that were in one of these functions of torch."""
        case = self.case
        theirs = case.frames.filter(pl.col("is_torch") & pl.col("function").is_in([*functions])).select(
            "frame"
        )
        inside = case.stacks.select("stack", pl.col("frames").alias("frame")).explode("frame")
        stacks = inside.join(theirs, on="frame", how="semi")["stack"].unique()
        ranks = {*case.looks.filter(pl.col("stack").is_in(stacks.implode()))["rank"]}
        return [rank for rank in self.seen() if rank in ranks]

    def now(self, rank: int) -> CallPath:
        """Where the program's own thread of this rank was when someone looked, at the last look."""
        return self._shown(rank, "now")

    def workers(self, rank: int) -> list[CallPath]:
        """Where the data-loading processes of this rank were when someone looked."""
        rows = self.case.looks.filter(
            (pl.col("rank") == rank) & (pl.col("shows") == "now") & (pl.col("role") == "worker")
        )
        return [
            self.path(stack) for stack in rows["stack"].drop_nulls().unique(maintain_order=True).to_list()
        ]

    def others(self, rank: int) -> list[CallPath]:
        """Where the threads were that the program itself started."""
        rows = self.case.looks.filter(
            (pl.col("rank") == rank) & (pl.col("shows") == "now") & (pl.col("role") == "other")
        )
        return [
            self.path(stack) for stack in rows["stack"].drop_nulls().unique(maintain_order=True).to_list()
        ]

    def whole(self, rank: int, role: str) -> list[CallPath]:
        """All frames of the rank's threads of that role, libraries' too, at each look, the last one first."""
        shown = (pl.col("rank") == rank) & (pl.col("shows") == "now") & (pl.col("role") == role)
        rows = self.case.looks.filter(shown).sort("ordinal", descending=True)
        stacks = rows["stack"].drop_nulls().unique(maintain_order=True).to_list()
        found = {stack: tuple(map(_frame, frames)) for stack, frames in self._rows(stacks)}
        return [found[stack] for stack in stacks if stack in found]

    def waits_for_worker(self, rank: int) -> bool:
        """Its main thread waits for what a data-loading process makes, as torch's own frames tell."""
        rows = self.case.looks.filter(
            (pl.col("rank") == rank) & (pl.col("shows") == "now") & (pl.col("role") == "main")
        )
        stacks = self.case.stacks.filter(pl.col("stack").is_in(rows["stack"].drop_nulls().to_list()))
        frames = self.case.frames.filter(pl.col("frame").is_in(stacks["frames"].explode().to_list()))
        waiting = pl.col("function").str.contains(r"(?:^|\.)_(?:try_)?get_data$") & pl.col("is_torch")
        return frames.filter(waiting).height > 0

    def raised(self, rank: int) -> list[tuple[CallPath, str]]:
        """Where exceptions of this rank came from, the latest last, with what they said."""
        rows = self.case.looks.filter(
            (pl.col("rank") == rank) & (pl.col("shows") == "raised") & (pl.col("role") != "server")
        )
        return [
            (self.path(row["stack"]), row["error"] or "")
            for row in rows.sort("file", "line").iter_rows(named=True)
        ]

    def _shown(self, rank: int, shows: str) -> CallPath:
        rows = self.case.looks.filter(
            (pl.col("rank") == rank) & (pl.col("shows") == shows) & (pl.col("role") == "main")
        )
        for row in rows.sort("ordinal", descending=True).iter_rows(named=True):
            path = self.path(row["stack"])
            if path:
                return path
        return ()

    def _load(self, stacks: list[int]) -> None:
        for stack, whole in self._rows(stacks):
            for outer, inner in pairwise(whole):
                if not outer["is_torch"] and not inner["is_torch"]:
                    self._called.setdefault(_frame(outer), set()).add(_frame(inner))
            own = [row for row in whole if not row["is_torch"]]
            self._paths[stack] = tuple(_merged([_frame(row) for row in own]))

    def _rows(self, stacks: list[int]) -> Iterator[tuple[int, list[Row]]]:
        """All frames of each stack, outermost first."""
        rows = self.case.stacks.filter(pl.col("stack").is_in(stacks))
        numbers = rows["frames"].explode().drop_nulls().unique().to_list()
        known = {
            row["frame"]: row
            for row in self.case.frames.filter(pl.col("frame").is_in(numbers)).iter_rows(named=True)
        }
        for stack, frames in zip(rows["stack"].to_list(), rows["frames"].to_list(), strict=True):
            yield stack, [known[f] for f in reversed(frames or []) if f in known]


def _frame(row: Row) -> Frame:
    # py-spy writes a method with its class where it can; the recorder never does.
    return Frame((row["function"] or "").rsplit(".", 1)[-1], row["file"] or "", row["line"] or 0)


def _merged(frames: list[Frame]) -> list[Frame]:
    """Without the frames that comprehensions have before Python 3.12: their function is the one they stand in."""
    merged: list[Frame] = []
    for frame in frames:
        if frame.function in _COMPREHENSIONS and merged and merged[-1].file == frame.file:
            merged[-1] = merged[-1]._replace(line=frame.line)
        else:
            merged.append(frame)
    return merged


def _made(row: Row, path: CallPath) -> Made:
    evidence = call_id(row["dump"], row["record"])
    return Made(row["rank"], row["op"] or "", row["group"], row["seq"], row["shape"], path, evidence)
