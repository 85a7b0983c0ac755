"""The words of whoever keeps count of who came: a monitored barrier's, JAX's, HCCL's, Horovod's inspector of stalls."""

from __future__ import annotations

import polars as pl
from msgspec import Struct

from rankandfile.model.events import event_id
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import world_of
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.ranks.from_logs.watches import over
from rankandfile.reason.words import ranks_words

_FEWEST = 2


class Roll(Struct, frozen=True, kw_only=True):
    """Who did not come, by those that said so."""

    named: tuple[int, ...]
    what: str
    """`come to the monitored barrier within 30 s`: behind "did not"."""
    said_by: str
    evidence: str
    at_ns: int | None = None
    """When they gave up."""
    others: str = "failed"
    came: str = "came, and "
    cause: str = "undetermined"
    """If nothing tells what it did instead."""
    sure: bool = True
    all_others: bool = False
    """Whether each of the others said that it was there: what works on then is none of theirs."""
    line: tuple[int, int] | None = None
    """Log and line of the last of these words."""

    @property
    def says(self) -> str:
        return f"{'say' if self.said_by.startswith('ranks ') else 'says'} {self.said_by}"


def roll_call(facts: Facts) -> Roll | None:
    return _monitored(facts) or _unheard(facts) or _counted(facts) or _exchanged(facts) or _heartbeats(facts)


def _monitored(facts: Facts) -> Roll | None:
    rows = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "monitored_barrier") & pl.col("about").is_not_null()
    )
    # The line counts ranks in its group. Only where that is the whole job are they the job's.
    mine = rows.filter(
        pl.col("group_rank").is_not_null()
        & (pl.col("rank").is_null() | (pl.col("rank") == pl.col("group_rank")))
    )
    if not mine.height or mine.height < rows.height:
        return None
    named = tuple(sorted({rank for ranks in mine["about"].to_list() for rank in ranks}))
    writers = set(mine["group_rank"].to_list())
    if not named or writers & set(named) or (facts.case.world_size or max(named) + 1) <= max(named):
        return None
    row = mine.row(0, named=True)
    limit = f" within {row['timeout_ms'] / 1000:g} s" if row["timeout_ms"] else ""
    return Roll(
        named=named,
        what=f"come to the monitored barrier{limit}",
        said_by=ranks_words(sorted(writers)),
        evidence=event_id(row["log"], row["line"]),
        at_ns=row["time_ns"],
        cause="peer_unreachable" if _a_host_is_away(facts) else "undetermined",
    )


def _unheard(facts: Facts) -> Roll | None:
    """Everybody but the one that keeps count says that it was there, and waited for a word of that one until its time
    was over. Where a connection broke instead, that one may have given up on another."""
    rows = facts.case.events.filter(
        (pl.col("kind").cast(pl.String) == "monitored_barrier_error") & pl.col("about").is_not_null()
    ).sort("log", "line")
    kinds = set(facts.case.events["kind"].cast(pl.String).to_list())
    said, named = set(rows["group_rank"].to_list()), {rank for one in rows["about"].to_list() for rank in one}
    everyone = set(range(facts.case.world_size or max(said | named, default=0) + 1))
    if len(named) != 1 or said != everyone - named or len(said) < _FEWEST or "gloo_timeout" not in kinds:
        return None
    if not kinds.isdisjoint(("gloo_peer_closed", "monitored_barrier")):
        return None
    row = rows.row(-1, named=True)
    limit = next(
        (
            ms
            for ms in facts.case.events.filter(pl.col("kind").cast(pl.String) == "gloo_timeout")["timeout_ms"]
            if ms
        ),
        0,
    )
    return Roll(
        named=tuple(named),
        what="come to the monitored barrier" + (f" within {limit / 1000:g} s" if limit else ""),
        said_by=ranks_words(sorted(said)),
        evidence=event_id(row["log"], row["line"]),
        at_ns=row["time_ns"],
        all_others=True,
        line=(row["log"], row["line"]),
    )


def _a_host_is_away(facts: Facts) -> bool:
    return bool(facts.case.events["kind"].cast(pl.String).is_in(["host_unreachable", "host_lost"]).any())


def _counted(facts: Facts) -> Roll | None:
    """JAX's barrier, and Horovod's inspector: few that all others wait for, told by number and the same each time."""
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String))
    past = over(events)
    rows = events.filter(
        pl.col("kind").is_in(["jax_barrier", "horovod_stalled"]) & pl.col("about").is_not_null()
    )
    last = [
        row for row in rows.sort("log", "line").iter_rows(named=True) if (row["log"], row["line"]) not in past
    ]
    if not last:
        return None
    row, fields = last[-1], fields_of(last[-1])
    named = tuple(sorted(set(row["about"])))
    world = max(world_of(facts), max(named) + 1)
    reached, expected = fields.get("reached"), fields.get("expected")
    told_all = not isinstance(expected, int) or expected - int(reached or 0) == len(named)
    if (
        not told_all
        or len(named) * 2 >= world
        or any(set(other["about"]) != set(named) for other in last if other["kind"] == row["kind"])
    ):
        return None
    evidence = event_id(row["log"], row["line"])
    if row["kind"] == "jax_barrier":
        key = str(fields.get("key", "")).partition("::")[0]
        what = f"come to JAX's barrier {key} in time"
        return Roll(named=named, what=what, said_by="the coordination service", evidence=evidence)
    waited = f" for more than {row['waited_ms'] / 1000:g} s" if row["waited_ms"] else ""
    tensor = f" ({fields['what']})" if fields.get("what") else ""
    instead = f", and waits with {fields['instead']}" if fields.get("instead") else ""
    what = f"submit what the others wait for{tensor}{waited}{instead}"
    return Roll(
        named=named,
        what=what,
        said_by="Horovod's inspector of stalls",
        evidence=evidence,
        others="cannot go on",
    )


def _exchanged(facts: Facts) -> Roll | None:
    """Who has not come to the server of HCCL's new communicator, by its list of those that have, or of those that have
    not. Its numbers are ranks of the job where it is as large."""
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String)).sort("log", "line")
    rows = events.filter(pl.col("kind").is_in(["hccl_met", "hccl_absent"]) & pl.col("about").is_not_null())
    sizes = {
        fields_of(row).get("nranks") for row in events.filter(pl.col("kind") == "hccl_size").rows(named=True)
    }
    size = sizes.pop() if len(sizes) == 1 else None
    if not rows.height or not isinstance(size, int) or size != (facts.case.world_size or size):
        return None
    told = {
        kind: {rank for about in part["about"] for rank in about} for (kind,), part in rows.group_by("kind")
    }
    named = tuple(sorted(told.get("hccl_absent") or set(range(size)) - told.get("hccl_met", set())))
    if not named or 2 * len(named) >= size or max(named) >= size or set(named) & told.get("hccl_met", set()):
        return None
    row = rows.row(0, named=True)
    return Roll(
        named=named,
        what=f"come to the exchange by which HCCL sets up the communicator of all {size} ranks",
        said_by="its server",
        evidence=event_id(row["log"], row["line"]),
        cause="init_stuck",
    )


def _heartbeats(facts: Facts) -> Roll | None:
    """Who has sent none any more, by HCCL or by JAX's coordination service: few, and the same each time."""
    rows = facts.case.events.filter(
        pl.col("kind").cast(pl.String).is_in(["hccl_lost", "jax_unhealthy_tasks"])
        & pl.col("about").is_not_null()
        & (pl.col("about_in").cast(pl.String) == "global")
    ).sort("log", "line")
    told = {tuple(sorted(set(about))) for about in rows["about"].to_list()}
    if len(told) != 1 or facts.accounts.gave_up:
        return None
    named, row = told.pop(), rows.row(0, named=True)
    if len(named) * 2 >= max(world_of(facts), max(named) + 1) or row["rank"] in named:
        return None
    hccl = row["kind"] == "hccl_lost"
    return Roll(
        named=named,
        what="send heartbeats any more",
        said_by=f"HCCL of {row['peer']}" if hccl else "JAX's coordination service",
        evidence=event_id(row["log"], row["line"]),
        cause="peer_unreachable",
        sure=False,
        came="waited, and ",
        others="ended",
    )
