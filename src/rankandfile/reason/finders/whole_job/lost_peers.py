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
#: One rank that lost another may have been the only one that looked.
_FEWEST = 2
#: What a line is that tells of trouble: of a log with one it is not said that it ends without a word.
_COMPLAINS = ("origin", "messenger", "echo")
_MAY = {
    "killed": "may have been killed, or have exited",
    "exited": "may have exited by itself",
    "raised": "may have raised an exception that its log does not have",
    "peer_unreachable": "may be alive, on a host that nobody reaches",
}


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
    named = tuple(alone) if _went_first(facts, rows, alone, wrote) else ()
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
        f" Of {ranks_words(alone)} there is no such line, and its log ends without a word: it went first."
        if named
        else f" Of {ranks_words(alone)} there is no such line: look there first."
        if alone
        else " Which process was the first to end, these lines do not tell."
    )
    causes = ("exited", "raised", "peer_unreachable") if named else ("killed",)
    return Finding(
        cause="killed" if named else "undetermined",
        confidence="supported" if named else "hypothesis",
        culprits=named,
        doing=dict.fromkeys(named, "gone without a word, before all others lost their connections"),
        victims=tuple(wrote) if named else (),
        sentence=f"{who} {what}: another process ended before, or its host did.{noted}{look}",
        evidence=tuple(event_id(log, line) for log, line in rows.head(4).select("log", "line").iter_rows()),
        alternatives=tuple(
            perhaps(
                cause,
                f"{upper(ranks_words(alone))} {_MAY[cause]}.",
                alone,
                decided_by="its exit code, the launcher's log, dmesg -T on its host",
            )
            for cause in (causes if alone else ())
        ),
        missing=(
            Missing(
                what="how the process on the other side ended",
                how="the launcher's log (exit codes), `dmesg -T` on that host, and the last lines of its own log",
            ),
        ),
    )


def _went_first(facts: Facts, rows: pl.DataFrame, alone: list[int], wrote: list[int]) -> bool:
    """Whether elimination tells it: all others were there to lose a connection to a peer, and its log just ends."""
    of_peers = set(rows.filter(~pl.col("kind").cast(pl.String).is_in(_STORE))["rank"].drop_nulls().to_list())
    if len(alone) != 1 or len(wrote) < _FEWEST or not of_peers >= set(wrote):
        return False
    accounts, rank = facts.accounts, alone[0]
    spoke = (
        accounts.raised,
        accounts.waited_in_vain,
        accounts.echoes,
        accounts.ends,
        accounts.of_rank,
        facts.hosts,
    )
    role = pl.col("role").cast(pl.String)
    complained = facts.case.events.filter((pl.col("rank") == rank) & role.is_in(list(_COMPLAINS)))
    return rank in accounts.logged and not complained.height and not any(rank in words for words in spoke)
