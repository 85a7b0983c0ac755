"""Ranks whose host does not answer: by the scheduler, the controller, NCCL, or the connections that were lost."""

from __future__ import annotations

import polars as pl

from rankandfile.model.events import event_id

from .accounts import Error, LostBetween, fields_of
from .devices_and_processes import ranks_of_processes
from .exit_lists import LOST, lost_words
from .hosts import lost_hosts

_LOST = ("Connection timed out", "No route to host", "Host is unreachable", "Network is unreachable")
"""What the kernel says when the other host does not answer. A process that ended is told from that: it resets."""
_FEWEST_PARTNERS = 2


def unreachable(events: pl.DataFrame, exits: pl.DataFrame, hosts: dict[int, str]) -> dict[int, Error]:
    """That NCCL's RAS misses a process is no proof: it may merely be stopped. With failed messages it is."""
    failed = events.filter(pl.col("kind") == "slurm_node_failure")
    lost = events.filter(
        pl.col("kind").is_in(["ib_completion_error", "socket_closed"]) & (pl.col("role") != "echo")
    )
    missed = events.filter(pl.col("kind").is_in(["ras_missing", "ras_dead"]))
    out: dict[int, Error] = {}
    for row in failed.iter_rows(named=True):
        evidence = (event_id(row["log"], row["line"]),)
        for rank, host in hosts.items():
            if host == row["host"]:
                out[rank] = Error(f"its host {host} failed", evidence)
    gone = lost_hosts(events.filter(pl.col("kind") != "slurm_node_failure"), hosts)
    out = {rank: gone[host] for rank, host in hosts.items() if host in gone} | out
    out.update(_in_all_lost(events, hosts))
    out.update(_lost_by_their_controller(exits))
    if not lost.height and not failed.height:
        return out
    ranks = ranks_of_processes(exits)
    signs = [
        event_id(log, line)
        for log, line in pl.concat([failed, lost]).select("log", "line").head(2).iter_rows()
    ]
    for row in missed.iter_rows(named=True):
        for process in fields_of(row).get("processes") or ():
            owners = ranks.get(process.get("pid", -1), set()) if isinstance(process, dict) else set()
            for rank in owners if len(owners) == 1 else ():
                words = "NCCL lost the process, and messages to the host fail"
                out.setdefault(rank, Error(words, (event_id(row["log"], row["line"]), *signs)))
    return out


def _lost_by_their_controller(exits: pl.DataFrame) -> dict[int, Error]:
    rows = exits.filter((pl.col("state").cast(pl.String) == LOST) & pl.col("rank").is_not_null())
    return {row["rank"]: Error(lost_words(row), (row["evidence"],)) for row in rows.iter_rows(named=True)}


def lost_between(events: pl.DataFrame, hosts: dict[int, str]) -> LostBetween | None:
    """The two hosts between which connections were lost, if they were lost between no others: either may be cut off."""
    lost = _lost_connections(events, hosts)
    if len(lost) != 1:
        return None
    ((ends, error),) = lost.items()
    one, other = sorted(ends)
    return LostBetween((one, other), error)


def _in_all_lost(events: pl.DataFrame, hosts: dict[int, str]) -> dict[int, Error]:
    """The ranks of the one host that every lost connection has at one end, if several others lost it."""
    lost = _lost_connections(events, hosts)
    ends = frozenset.intersection(*lost) if lost else frozenset()
    if len(ends) != 1 or len(lost) < _FEWEST_PARTNERS:
        return {}
    (gone,) = ends
    words = f"is on host {gone}, which does not answer: each of the {len(lost)} connections that were lost ends there"
    error = Error(words, tuple(i for each in lost.values() for i in each.evidence)[:4])
    return {rank: error for rank, host in hosts.items() if host == gone}


def _lost_connections(events: pl.DataFrame, hosts: dict[int, str]) -> dict[frozenset[str], Error]:
    """By the two hosts at its ends: what a rank said of a connection whose other end did not answer."""
    known = set(hosts.values())
    lost: dict[frozenset[str], Error] = {}
    for row in events.filter((pl.col("kind") == "gloo_peer_closed") & pl.col("peer").is_not_null()).iter_rows(
        named=True
    ):
        host, peer = hosts.get(row["rank"]), row["peer"].rpartition(":")[0].strip("[]")
        said = next((w for w in _LOST if str(fields_of(row).get("error", "")).startswith(w)), None)
        if said is not None and host and peer in known - {host}:
            lost.setdefault(frozenset((host, peer)), Error(said, (event_id(row["log"], row["line"]),)))
    return lost
