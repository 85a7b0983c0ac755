"""The stacks of all ranks as one tree, bounded, and where each rank stands in words."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import polars as pl

from rankandfile.model.diagnosis import Diagnosis
from rankandfile.model.pictures import StackGroup, StackNode, StackTree
from rankandfile.model.ranks import format_ranks
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.activity import is_library
from rankandfile.reason.ranks.merged_stacks import Merged, Node, merge
from rankandfile.reason.ranks.threads import last_of_each_rank, telling

from .roles import Roles

_MOST_NODES = 500
_MOST_GROUPS = 64


def stack_tree(facts: Facts, diagnosis: Diagnosis, ranks: Collection[int] | None = None) -> StackTree:
    """Of the last snapshot of each rank, or of some; where nobody took any, of the calls that did not end."""
    case, roles = facts.case, Roles(diagnosis)
    asked = pl.lit(True) if ranks is None else pl.col("rank").is_in(list(ranks))
    taken = last_of_each_rank(telling(case.looks, case.stacks, case.frames)).filter(asked)
    if taken.height:
        return _drawn(
            "watchdogs" if case.unlooked.height else "stacks", merge(taken, case.stacks, case.frames), roles
        )
    calls = facts.call_table.calls.filter(pl.col("open") & pl.col("stack").is_not_null() & asked)
    oldest = calls.sort("rank", "record").unique("rank", keep="first", maintain_order=True)
    if oldest.height:
        return _drawn("calls", merge(oldest.select("rank", "stack"), case.stacks, case.frames), roles)
    return StackTree()


def _drawn(taken_from: Literal["stacks", "watchdogs", "calls"], tree: Merged, roles: Roles) -> StackTree:
    nodes: list[StackNode] = []
    left_out = 0
    # Breadth first: what is cut where there is too much is the innermost frames of the smallest branches.
    waiting: list[tuple[int, Node]] = [(-1, root) for root in tree.roots]
    for parent, node in waiting:
        if len(nodes) >= _MOST_NODES:
            left_out += 1
            continue
        waiting.extend((len(nodes), child) for child in _children(node))
        nodes.append(
            StackNode(
                function=node.place.function, file=node.place.file, line=node.place.line or 0,
                library=is_library(node.place), parent=parent, ranks=node.label, count=len(node.ranks),
                culprits=sum(rank in roles.culprits for rank in node.ranks),
            )
        )  # fmt: skip
    groups = [
        StackGroup(
            ranks=format_ranks(cohort.ranks), says=cohort.words if taken_from != "calls" else "",
            stack=[(place.function, place.file, place.line or 0) for place in cohort.places[:64]],
        )
        for cohort in tree.cohorts[:_MOST_GROUPS]
    ]  # fmt: skip
    return StackTree(
        taken_from=taken_from,
        nodes=nodes,
        groups=groups,
        left_out=left_out,
    )


def _children(node: Node) -> list[Node]:
    return sorted(node.children.values(), key=lambda child: (-len(child.ranks), child.ranks[0]))
