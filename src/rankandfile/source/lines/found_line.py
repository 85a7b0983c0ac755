"""What the search for a line finds, and what it searches in."""

from __future__ import annotations

import ast

from msgspec import Struct
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.source.dependence import Reason, why
from rankandfile.source.dependence.index import index_of
from rankandfile.source.dependence.objects import Objects
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.flow import Condition
from rankandfile.source.flow.condition import tested
from rankandfile.source.one_rank.job import Job
from rankandfile.source.one_rank.job_of_case import job_of
from rankandfile.source.one_rank.values import OneRank
from rankandfile.source.program.modules import Function, Program
from rankandfile.source.program.places import SourcePlace, SourcePlaces

from .call_paths import CallPaths
from .decision import Decision
from .divergence import CodeDivergence
from .seen_calls import calls_seen


class FoundLine(Struct, frozen=True):
    """A line of the source, and how it came to be named."""

    place: SourcePlace
    line: int
    condition: str | None = None
    reason: Reason | None = None
    divergence: CodeDivergence | None = None
    decision: Decision | None = None
    kind: str = "place"
    """place, held, raised, exited, argument, renewed, order, filled, keyed, decision, caught, loop,
    callee, items, again, anew, changed, put_off, no_graph, flag, logged, share, dropped,
    barred, some_make, counted, awaits, left_loop, stayed_in_loop, fewer_items, told, kept,
    left_out_message, begun, inherited, ended, inside, next_item, took_up,
    wrote, round_ahead, went_by."""
    unordered: bool = False
    """The items of the loop are in the order in which they came in, on each rank."""
    singled: tuple[int, ...] = ()
    """Ranks that alone come to what made the items differ, or to a call; or wrote what a handler writes."""
    tried_again: bool = False
    """Of a handler: who came through it is in another go at what raised."""
    supposed: bool = False
    """Of a handler: one side may have gone through all that the other is in the middle of."""
    story: str = ""
    """How one comes from what the ranks did to this line, where that is not to be seen at it."""

    @property
    def at(self) -> str:
        return self.place.at(self.line)


def _heard_of(case: Case) -> int:
    """As many ranks as anything tells of: where nothing tells how many the job has, there may be more."""
    tables = (case.snapshots, case.events, case.exits)
    return max((rank for table in tables for rank in table["rank"].drop_nulls()), default=-1) + 1


class Search:
    """The evidence on one side, the source on the other."""

    def __init__(self, case: Case, tree: SourceTree) -> None:
        self.case = case
        self.tree = tree
        self.paths = CallPaths(case)
        self.program = Program(tree)
        self.places = SourcePlaces(tree, self.program)
        called = self.paths.called()
        self.places.compare(called)
        self.job = job_of(case) or Job(world=None)
        self.ranks = self.job.world or _heard_of(case)
        index = index_of(self.program)
        index.seen = calls_seen(self.places, called)
        self.objects = Objects(index)
        self._ranks: dict[int, OneRank] = {}

    def one_rank(self, rank: int) -> OneRank:
        """What the source says of this rank."""
        if rank not in self._ranks:
            self._ranks[rank] = OneRank(self.program, rank, self.job, self.objects)
        return self._ranks[rank]

    def may_change(self, test: ast.expr, function: Function, rank: int) -> bool:
        """Whether a test may come out both ways on this rank within one job: `rank == world - 1` does not, though
        nothing tells how large the job is."""
        if self.job.world is not None:
            return len(self.one_rank(rank).outcomes(test, function)) == 2
        jobs = (replace(self.job, world=size) for size in (self.ranks, self.ranks + 1, 2 * self.ranks))
        asked = (OneRank(self.program, rank, job, self.objects).outcomes(test, function) for job in jobs)
        return any(len(ways) == 2 for ways in asked)

    def why(self, function: Function, asked: Condition | ast.expr) -> Reason:
        """Why a condition, or an expression taken as one, can differ between ranks."""
        if not isinstance(asked, Condition):
            asked = tested(function.module.lines, asked.lineno, asked)
        return why(self.program, function, asked)
