"""Who waits for whom, drawn small: ranks that wait alike are one node, however many they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import polars as pl

from rankandfile.model.diagnosis import Diagnosis, Wait
from rankandfile.model.pictures import WaitEdge, WaitGraph, WaitNode
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.reason import lookup
from rankandfile.reason.facts import Facts
from rankandfile.reason.waits.components import components
from rankandfile.reason.waits.graph import Pending

from .chains import Chain, chains, circle_of
from .classes import Classes, classes
from .roles import Roles

_MOST_NODES = 24
_MOST_CALLS_OF_A_NODE = 3
_MIXED = "they ask for different things"
_ENDLESS = "all have joined, and it does not end"


class Words(NamedTuple):
    group: str
    op: str
    seq: int | None
    place: str


def wait_graph(facts: Facts, diagnosis: Diagnosis) -> WaitGraph:
    roles = Roles(diagnosis)
    if not any(verdict.hang for verdict in diagnosis.verdicts):
        return WaitGraph()
    found = chains(facts, diagnosis, roles)
    graph = _of_chains(facts, diagnosis, roles, found) if found else _of_words(diagnosis, roles)
    if not graph.nodes:
        graph = _of_people(diagnosis)
    _mark_cycles(graph)
    return graph


def _of_chains(facts: Facts, diagnosis: Diagnosis, roles: Roles, found: list[Chain]) -> WaitGraph:
    words = _words(facts, [(facts.waits.pending[chain.call], chain.waiting[0]) for chain in found])
    alike = [_label(word) for word in words]
    doing = _doing(diagnosis)
    divided = _divided(found, alike, _looks(roles, doing), circle_of(facts, diagnosis))
    graph, number = WaitGraph(), {}
    for key, ranks in list(divided.ranks.items())[:_MOST_NODES]:
        number[key] = len(graph.nodes)
        graph.nodes.append(WaitNode(ranks=format_ranks(ranks), count=len(ranks), role=roles.of(ranks[0])))
    graph.left_out = sum(len(ranks) for ranks in list(divided.ranks.values())[_MOST_NODES:])
    said: dict[int, dict[str, set[int | None]]] = defaultdict(lambda: defaultdict(set))
    edges: dict[tuple[int, int], bool] = {}
    stuck: dict[str, int] = {}
    for i, chain in enumerate(found):
        sources = {number[key] for rank in chain.waiting if (key := divided.of_rank[rank]) in number}
        to = {number[key] for rank in chain.lacking if (key := divided.of_rank[rank]) in number}
        if not chain.lacking and sources:
            mixed = facts.waits.pending[chain.call].mismatched
            if alike[i] not in stuck:
                stuck[alike[i]] = len(graph.nodes)
                graph.nodes.append(WaitNode(ranks="", count=0, role="", says=[_MIXED if mixed else _ENDLESS],
                                            call=alike[i]))  # fmt: skip
            to = {stuck[alike[i]]}
        for a in sources:
            said[a][alike[i]].add(words[i][2])
            for b in to:
                edges[a, b] = chain.known or edges.get((a, b), False)
    graph.edges = [WaitEdge(source=a, target=b, known=known) for (a, b), known in edges.items()]
    _say(graph, said, facts, doing)
    return graph


def _doing(diagnosis: Diagnosis) -> dict[int, str]:
    """What each culprit does instead of joining."""
    return {c.rank: c.doing for verdict in diagnosis.verdicts for c in verdict.culprits if c.doing}


def _looks(roles: Roles, doing: dict[int, str]) -> Callable[[int], str]:
    """The role of a rank; culprits that do different things are different, as long as they are few."""
    few = len(roles.culprits) <= _MOST_NODES // 4
    return lambda rank: roles.of(rank) + (doing.get(rank, "") if few else "")


def _divided(
    found: list[Chain], kinds: list[str], looks: Callable[[int], str], circle: frozenset[int]
) -> Classes:
    """Each member of a small circle apart, if they are so alike that it would be one node that waits for itself."""
    ends = [(chain.waiting, chain.lacking) for chain in found]
    divided = classes(ends, kinds, looks, frozenset(), _MOST_NODES)
    of = divided.of_rank
    folded = any({of[r] for r in a} & {of[r] for r in b} for a, b in ends)
    if folded and circle and len(circle) <= _MOST_NODES // 2:
        return classes(ends, kinds, looks, circle, _MOST_NODES)
    return divided


def _say(
    graph: WaitGraph, said: dict[int, dict[str, set[int | None]]], facts: Facts, doing: dict[int, str]
) -> None:
    """Under each node: the calls its ranks wait in, or what they do instead."""
    for i, node in enumerate(graph.nodes):
        if node.call:
            continue
        lines = []
        for label, numbers in said[i].items():
            # Like groups number apart: a number is said only where it is the same for all.
            (number,) = numbers if len(numbers) == 1 else (None,)
            lines.append(label if number is None else label.replace(" ", f" #{number} ", 1))
        first = parse_ranks(node.ranks)[0]
        if not lines:
            stand = facts.hosts.get(first)
            lines = [doing.get(first) or (stand.phrase if stand is not None else "has not joined")]
        more = len(lines) - _MOST_CALLS_OF_A_NODE
        node.says = lines[:_MOST_CALLS_OF_A_NODE] + ([f"and in {more} more calls"] if more > 0 else [])


def _words(facts: Facts, pending: list[tuple[Pending, int]]) -> list[Words]:
    """Each call as that rank made it, looked up all at once."""
    wanted = pl.DataFrame(
        {
            "index": range(len(pending)),
            "rank": [rank for _, rank in pending],
            "group": [call.group for call, _ in pending],
            "slot": [call.slot for call, _ in pending],
            "record": [None if call.slot is not None else call.record for call, _ in pending],
        },
        schema={
            "index": pl.UInt32,
            "rank": pl.Int32,
            "group": pl.UInt32,
            "slot": pl.Int64,
            "record": pl.Int64,
        },
    )
    calls = facts.call_table.calls.filter(pl.col("rank").is_in(wanted["rank"].unique().implode()))
    calls = calls.select("rank", "group", "slot", "record", "seq", "terms", "site")
    by_slot = wanted.filter(pl.col("slot").is_not_null()).drop("record")
    by_record = wanted.filter(pl.col("slot").is_null()).drop("slot")
    rows = pl.concat(
        [
            by_slot.join(calls, on=["rank", "group", "slot"], how="inner").select(
                "index", "seq", "terms", "site"
            ),
            by_record.join(calls, on=["rank", "group", "record"], how="inner").select(
                "index", pl.lit(None, pl.Int64).alias("seq"), "terms", "site"
            ),
        ]
    )
    known = {index: (seq, terms, site) for index, seq, terms, site in rows.iter_rows()}
    families = facts.membership.families
    names: dict[int, str] = {}
    places: dict[int | None, str] = {}
    out = []
    for index, (call, _) in enumerate(pending):
        family = families.get(call.group, call.group)
        if family not in names:
            row = facts.case.groups.filter(pl.col("group") == family).row(0, named=True)
            names[family] = row["desc"] if row["desc"] not in (None, "", "undefined") else row["name"]
        seq, terms, site = known.get(index, (None, None, None))
        if site not in places:
            places[site] = lookup.place_words(facts.case, site).removeprefix(" at ")
        op = facts.call_table.terms[terms].op if terms is not None else "a call"
        out.append(Words(names[family], op, seq, places[site]))
    return out


def _label(words: Words) -> str:
    return " ".join(filter(None, (words.op, words.place, f"({words.group})" if words.group else "")))


def _of_words(diagnosis: Diagnosis, roles: Roles) -> WaitGraph:
    """Where only logs tell of waits, the verdict's own list of them is all there is."""
    graph = WaitGraph()
    number: dict[str, int] = {}

    def node(ranks: str) -> int:
        if ranks not in number:
            members = parse_ranks(ranks)
            role = roles.of(members[0]) if members else ""
            graph.nodes.append(WaitNode(ranks=ranks, count=len(members), role=role))
            number[ranks] = len(graph.nodes) - 1
        return number[ranks]

    for wait in [wait for verdict in diagnosis.verdicts for wait in verdict.waits][: _MOST_NODES // 2]:
        if wait.ranks:
            source = node(wait.ranks)
            graph.nodes[source].says.append(f"in {_call_of(wait)}")
            if wait.waits_for and wait.waits_for != wait.ranks:
                graph.edges.append(WaitEdge(source=source, target=node(wait.waits_for)))
    return graph


def _of_people(diagnosis: Diagnosis) -> WaitGraph:
    """No call that anybody waits in was recorded, as where the job never began: who is waited for is all there is."""
    graph = WaitGraph()
    for verdict in diagnosis.verdicts[: _MOST_NODES // 2]:
        if not verdict.culprits or not verdict.victims:
            continue
        blamed = [culprit.rank for culprit in verdict.culprits]
        says = list(dict.fromkeys(culprit.doing for culprit in verdict.culprits if culprit.doing))
        waiting = WaitNode(ranks=verdict.victims, count=len(parse_ranks(verdict.victims)), role="victim")
        waited_for = WaitNode(ranks=format_ranks(blamed), count=len(blamed), role="culprit")
        waited_for.says = says[:_MOST_CALLS_OF_A_NODE]
        graph.nodes += [waiting, waited_for]
        graph.edges.append(WaitEdge(source=len(graph.nodes) - 2, target=len(graph.nodes) - 1))
    return graph


def _call_of(wait: Wait) -> str:
    number = "" if wait.seq is None else f" #{wait.seq}"
    return f"{wait.op or 'a call'}{number} ({wait.group})"


def _mark_cycles(graph: WaitGraph) -> None:
    arrows: list[list[int]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        arrows[edge.source].append(edge.target)
    part_of = {node: i for i, part in enumerate(components(arrows)) for node in part}
    for edge in graph.edges:
        edge.cycle = part_of[edge.source] == part_of[edge.target]
