"""Whether a job was over at once: its launcher tells of the end of its processes, and nobody had waited before.

Whoever gives up on a peer that does not come says so, after minutes. Whoever loses a peer that has ended learns of it
at once, and ends too: that is a job that broke off, and none that hung.
"""

from __future__ import annotations

import polars as pl

from rankandfile.reason.facts import Facts

#: Who tells how the processes of a job ended is who started them.
_LAUNCHERS = ("child_failed", "agent", "launcher", "mpirun", "slurm")
_CLOSING = ("agent_closing", "launcher_killing")
#: Somebody outside ended the job: how long it had stood by then, that does not tell.
_FROM_OUTSIDE = ("agent_signalled", "slurm_cancelled", "job_cancelled")
_LONG_NS = 120_000_000_000

#: A messenger's words that are said as soon as a peer is gone, without any patience.
_AT_ONCE = (
    "ib_completion_error",
    "ofi_completion_error",
    "nccl_async_error",
    "remote_error",
    "socket_unreachable",
    "wrapper_mismatch",
    "monitored_barrier_error",
    "gloo_size_disagrees",
    "size_truncated",
    "size_disagrees",
)
#: So are these words of an exception: calls were compared before they began, or a peer was gone.
_COMPARED = "Detected mismatch between collectives|but received errors while waiting|lost connection to rank"
_WAITED = ("heartbeat_stuck", "ras_mismatch", "ras_missing", "ras_dead", "hung_task", "faulthandler_timer")


def over_at_once(facts: Facts) -> bool:
    """Never against the person's word, nor where stacks show somebody who stands, nor with a process still there."""
    accounts = facts.accounts
    if facts.hung or accounts.gave_up or accounts.stuck_watchdogs or facts.hosts:
        return False
    if any(end.kind == "running" for end in accounts.ends.values()) or anybody_waited(facts):
        return False
    kinds = set(facts.case.events["kind"].cast(pl.String).to_list())
    ended = set(facts.case.exits["kind"].cast(pl.String).to_list()).intersection(_LAUNCHERS)
    told = bool(ended) or bool(kinds.intersection(_CLOSING))
    return told and kinds.isdisjoint(_FROM_OUTSIDE) and not _long_after(facts)


def nobody_left(facts: Facts) -> bool:
    """Every rank aborted, or went down having lost a peer, as its own log ends; and nobody had waited in vain."""
    accounts, world = facts.accounts, facts.case.world_size or 0
    kind = pl.col("kind").cast(pl.String)
    aborted = set(facts.case.events.filter(kind == "terminate")["rank"].drop_nulls().to_list())
    lost = (accounts.echoes.keys() | accounts.lost_peers.keys()) - accounts.caught
    return bool(aborted) and set(range(world)) <= aborted | lost and not anybody_waited(facts)


BROKE_OFF = "No line tells that anybody had waited for long before: the job ended of this."


def _long_after(facts: Facts) -> bool:
    """The launcher ended the job minutes after the first failure: by clocks of one kind, whatever their zones."""
    times = facts.case.events.select(
        "time_ns",
        pl.col("kind").cast(pl.String).is_in(list(_CLOSING)).alias("closing"),
        (pl.col("role").cast(pl.String) == "origin").alias("origin"),
        pl.col("time_quality").cast(pl.String).str.strip_prefix("near ").alias("quality"),
    ).drop_nulls()
    for _, part in times.group_by("quality"):
        failed = part.filter("origin")["time_ns"].min()
        closed = part.filter("closing")["time_ns"].min()
        if isinstance(failed, int) and isinstance(closed, int) and closed - failed > _LONG_NS:
            return True
    return False


def anybody_waited(facts: Facts) -> bool:
    """A line says so: a timeout that ran out, a watchdog, a look at a job that stood."""
    kind, role = pl.col("kind").cast(pl.String), pl.col("role").cast(pl.String)
    compared = pl.col("text").cast(pl.String).str.contains(_COMPARED).fill_null(False)
    waits = (role == "messenger") & ~kind.is_in(list(_AT_ONCE)) & ~compared
    return bool(facts.case.events.filter(waits | kind.is_in(list(_WAITED))).height)
