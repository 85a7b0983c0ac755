"""Ranks lost their connections to a peer: somebody ended first, and that is who does not say so.

A line of a lost connection is an echo. Who wrote one was there when the other had gone; a rank of which there is no
such line, where all others wrote one, is the first to look at.
"""

from __future__ import annotations

import polars as pl

from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import ranks_words, upper, verb

_KINDS = ("gloo_peer_closed", "socket_closed", "nccl_remote_error", "store_connection_lost")
_STORE = ("store_connection_lost",)
_MOST_PEERS = 4


@finder(precedence=70, of="logs")
def lost_peers(facts: Facts, _: WaitEnd) -> Finding | None:
    rows = facts.case.events.filter(pl.col("kind").cast(pl.String).is_in(_KINDS)).sort("log", "line")
    if not rows.height:
        return None
    wrote = sorted(set(rows["rank"].drop_nulls().to_list()))
    peers = [
        peer
        for peer in rows["peer"].drop_nulls().unique(maintain_order=True).to_list()
        if "." in peer or ":" in peer or "<" in peer
    ]
    world = facts.case.world_size or (world_of(facts) if wrote else 0)
    mute = sorted(set(range(world)) - set(wrote)) if wrote else []
    alone = mute if 0 < len(mute) * 2 < world else []
    who = upper(ranks_words(wrote)) if wrote else "A process"
    to = f" to {', '.join(peers[:_MOST_PEERS])}" if peers else ""
    store_only = set(rows["kind"].cast(pl.String).to_list()) <= set(_STORE)
    what = (
        "lost the store, which rank 0 or the launcher keeps"
        if store_only
        else f"lost {verb(wrote or [0], 'its connection', 'their connections')}{to}"
    )
    first = rows.sort("time_ns", nulls_last=True).row(0, named=True)
    noted = (
        f" {upper(ranks_words([first['rank']]))} noticed first, which accuses nobody."
        if first["rank"] is not None and first["time_ns"] is not None and len(wrote) > 1
        else ""
    )
    look = (
        f" Of {ranks_words(alone)} there is no such line: look there first."
        if alone
        else " Which process was the first to end, these lines do not tell."
    )
    return Finding(
        cause="undetermined",
        confidence="hypothesis",
        sentence=f"{who} {what}: another process ended before, or its host did.{noted}{look}",
        evidence=tuple(event_id(log, line) for log, line in rows.head(4).select("log", "line").iter_rows()),
        alternatives=(
            (
                perhaps(
                    "killed",
                    f"{upper(ranks_words(alone))} may have been killed, or have exited.",
                    alone,
                    decided_by="its exit code, the launcher's log, dmesg -T on its host",
                ),
            )
            if alone
            else ()
        ),
        missing=(
            Missing(
                what="how the process on the other side ended",
                how="the launcher's log (exit codes), `dmesg -T` on that host, and the last lines of its own log",
            ),
        ),
    )
