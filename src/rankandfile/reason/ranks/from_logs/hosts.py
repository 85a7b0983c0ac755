"""On which host each rank ran, and which hosts are gone or stand still, as logs tell it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.events import event_id
from rankandfile.model.log_shapes import OF_NCCL
from rankandfile.reason.words import shortened

from .accounts import Error, fields_of

_PORT = re.compile(r"<\d+>$|:\d+$")
_STALLS = ("nfs_stalled", "hung_task")
_GONE = ("host_lost", "slurm_node_failure")
_FEWEST_HOSTS = 2
_LONGEST = 160


def hosts_of_ranks(case: Case) -> dict[int, str]:
    """By exit lists, dumps, NCCL's lines, and maps of jobs; a log's folder may be called anything."""
    kind, shape = pl.col("kind").cast(pl.String), pl.col("shape").cast(pl.String)
    named = [
        table.select("rank", "host").drop_nulls().unique("rank", keep="first", maintain_order=True)
        for table in (
            case.exits,
            case.dumps_used,
            case.events.filter(shape.str.contains(OF_NCCL)),
            case.events.filter(kind == "rank_on_host"),
        )
    ]
    known = dict(pl.concat(named).unique("rank", keep="first", maintain_order=True).iter_rows())
    return known | _left_over(case, known)


def _left_over(case: Case, known: dict[int, str]) -> dict[int, str]:
    """The one block of ranks without a host is on the one host without ranks of which the kernel or a scheduler speaks,
    where every other host has a block of as many."""
    kind = pl.col("kind").cast(pl.String)
    everyone = case.events["rank"].drop_nulls().to_list()
    world = case.world_size or max([*everyone, *known], default=-1) + 1
    lacking = sorted(set(range(world)) - known.keys())
    spoken = case.events.filter(kind.is_in([*_STALLS, *_GONE, "kernel_oom", "xid", "gpu_lost", "link_down"]))
    others = set(spoken["host"].drop_nulls().to_list()) - set(known.values())
    blocks: dict[str, list[int]] = defaultdict(list)
    for rank, host in known.items():
        blocks[host].append(rank)
    rows = [sorted(ranks) for ranks in blocks.values()] + [lacking]
    even = len(blocks) >= _FEWEST_HOSTS and len({len(row) for row in rows}) == 1
    whole = all(row and row[-1] - row[0] == len(row) - 1 for row in rows)
    return dict.fromkeys(lacking, others.pop()) if even and whole and len(others) == 1 else {}


def stalled_hosts(events: pl.DataFrame, hosts: dict[int, str]) -> dict[int, Error]:
    """Ranks of a host whose kernel says that its processes wait for a file system that does not answer."""
    rows = events.filter(pl.col("kind").is_in(list(_STALLS)) & pl.col("host").is_not_null()).sort(
        "log", "line"
    )
    recovered = set(events.filter(pl.col("kind") == "nfs_recovered")["log"].to_list())
    found: dict[str, Error] = {}
    for row in rows.iter_rows(named=True):
        if row["log"] not in recovered:
            words = f"its host {row['host']} says: {shortened(str(row['text']), _LONGEST)}"
            found.setdefault(row["host"], Error(words, (event_id(row["log"], row["line"]),)))
    return {rank: found[host] for rank, host in hosts.items() if host in found}


def lost_hosts(events: pl.DataFrame, hosts: dict[int, str]) -> dict[str, Error]:
    """Hosts of ranks that do not answer: as somebody who tried says, or as all connections that fell silent do."""
    known = set(hosts.values())
    short = Counter(host.partition(".")[0] for host in known)
    addresses: dict[str, str] = {
        str(fields_of(row).get("address")): row["host"]
        for row in events.filter((pl.col("kind") == "nccl_address") & pl.col("host").is_not_null()).iter_rows(
            named=True
        )
    }

    def named(words: object) -> str | None:
        name = _PORT.sub("", str(words or ""))
        name = addresses.get(name, name)
        if name in known:
            return name
        first = name.partition(".")[0]
        return (
            next((host for host in known if host.partition(".")[0] == first), None)
            if short[first] == 1
            else None
        )

    out: dict[str, Error] = {}
    for row in events.filter(pl.col("kind").is_in(list(_GONE))).sort("log", "line").iter_rows(named=True):
        host = named(row["host"])
        if host is not None:
            words = f"host {host} does not answer: {' '.join(str(row['text']).split())[:140]}"
            out.setdefault(host, Error(words, (event_id(row["log"], row["line"]),)))
    silent = events.filter(pl.col("kind") == "socket_silent").sort("log", "line")
    ends = [
        (named(row["peer"]), hosts.get(row["rank"], row["host"]), row) for row in silent.iter_rows(named=True)
    ]
    away = {peer for peer, _, _ in ends if peer is not None}
    if len(away) == 1 and not out and all(own != peer for peer, own, _ in ends):
        (host,) = away
        of = next(row for peer, _, row in ends if peer == host)
        words = f"host {host} does not answer: {' '.join(str(of['text']).split())[:140]}"
        out[host] = Error(words, (event_id(of["log"], of["line"]),))
    return out
