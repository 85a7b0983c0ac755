"""What is known of an incident beside what an analyser made of it: the lab's own log of calls, or its tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl

from rankandfile.lab import calls
from rankandfile.model.case import Case

from .held import Group, Made, Place, Witness

#: Records of calls; all other files of the evidence are text, whatever they are called.
_RECORDS = "dumps"
_MOST_BYTES = 8_000_000
#: Collectives of which torch tells its watchdog the name that the program has for them.
_COUNTED = ("ALLREDUCE", "ALLGATHER", "BROADCAST", "BARRIER")
_GAVE_UP = re.compile(
    r"\[Rank (?P<rank>\d+)\] Watchdog caught collective.*?SeqNum=(?P<seq>\d+), OpType=(?P<op>[A-Z_]+)"
)


def of_log(incident: Path, case: Case) -> Witness:
    """By the log of calls that the lab kept, which no recorder and no analyser wrote."""
    log = calls.read(incident / "calls.jsonl")
    numbered = _numbered_alike(log, case, _texts(incident))
    places = {(g.name, g.ranks): i for i, g in enumerate(log.groups)}
    made = [
        Made(
            rank=one.rank,
            op=one.op,
            group=next(
                (i for (name, ranks), i in places.items() if name == one.group and one.rank in ranks), -1
            ),
            seq=one.seq if numbered else 0,
            places=tuple((file, line) for file, line, _ in one.stack),
            peer=one.peer,
        )
        for one in log.calls
    ]
    return Witness(
        groups=tuple(Group(frozenset({g.name, g.desc} - {""}), frozenset(g.ranks)) for g in log.groups),
        calls=tuple(made),
        whole=frozenset(range(case.world_size or 1 + max((one.rank for one in log.calls), default=0))),
        ends=_ends(incident),
        logs=_texts(incident),
        stands=_stands(case),
    )


def _numbered_alike(log: calls.CallLog, case: Case, texts: str) -> bool:
    """Whether the recorders and the watchdogs counted as the log does. Some start from another number, batches burn
    numbers, and a group that is made anew begins anew."""
    logged = {(one.rank, one.group, one.seq) for one in log.calls}
    of_rank = {(one.rank, one.seq, one.op.replace("_", "").upper()) for one in log.calls}
    for one in _GAVE_UP.finditer(texts):
        said = int(one["rank"]), int(one["seq"]), one["op"].replace("_", "")
        if said[1] and said[2] in _COUNTED and said not in of_rank:
            return False
    rows = case.calls.filter(~pl.col("is_p2p")).join(case.groups.select("group", "name"), on="group")
    return all(
        (rank, name, seq) in logged for rank, name, seq in rows.select("rank", "name", "seq").iter_rows()
    )


def of_tables(incident: Path, case: Case) -> Witness:
    """By the records as they were read."""
    stacks = (
        {
            row["stack"]: tuple(row["places"])
            for row in case.stacks.explode("frames")
            .join(case.frames, left_on="frames", right_on="frame", how="left", maintain_order="left")
            .group_by("stack", maintain_order=True)
            .agg(pl.concat_list(pl.col("file"), pl.col("line").cast(pl.String)).alias("places"))
            .iter_rows(named=True)
        }
        if case.stacks.height
        else {}
    )
    batches = case.calls.filter(
        pl.col("op").cast(pl.String).str.to_lowercase().str.ends_with("coalesced")
    ).height
    numbers = {row["group"]: i for i, row in enumerate(case.groups.iter_rows(named=True))}
    used = case.dumps_used
    made = [
        Made(
            rank=row["rank"],
            op=str(row["op"]),
            group=numbers.get(row["group"], -1),
            seq=0 if row["is_p2p"] else row["seq"] or 0,
            places=tuple((file, int(line or 0)) for file, line in stacks.get(row["stack"], ())),
            batch=str(row["op"]).lower().endswith("coalesced"),
            asked=str(row["shape"]),
            open=row["state"] in ("issued", "started"),
        )
        for row in case.calls.iter_rows(named=True)
    ]
    complete = used.filter(~pl.col("truncated").fill_null(False))["rank"].drop_nulls().to_list()
    return Witness(
        groups=tuple(
            Group(
                frozenset({row["name"], row["desc"] or row["name"]}),
                # Who never used a group is not among those that are inferred from its use.
                frozenset(row["members"] or () if row["members_from"] != "inferred" else ()),
            )
            for row in case.groups.iter_rows(named=True)
        ),
        calls=tuple(made),
        whole=frozenset() if batches else frozenset(complete),
        wrapped=frozenset(used.filter(pl.col("wrapped").fill_null(False))["rank"].to_list()),
        tables=True,
        ends=_ends(incident),
        logs=_texts(incident),
        stands=_stands(case),
        spoke=frozenset(case.events["rank"].drop_nulls().to_list()),
    )


def _ends(incident: Path) -> dict[int, tuple[int | None, str | None, bool]]:
    path = incident / "evidence" / "exits.json"
    if not path.exists():
        return {}
    return {
        one["rank"]: (one.get("exitcode"), one.get("signal"), one.get("state") == "running")
        for one in json.loads(path.read_text())
        if isinstance(one, dict) and one.get("rank") is not None
    }


def _texts(incident: Path) -> str:
    evidence = incident / "evidence"
    files = [p for p in sorted(evidence.rglob("*")) if p.is_file() and _RECORDS not in p.parts]
    texts = (p.read_bytes()[:_MOST_BYTES] for p in files)
    return re.sub(r"\s+", " ", " ".join(text.decode(errors="replace") for text in texts if b"\0" not in text))


def _stands(case: Case) -> dict[int, frozenset[Place]]:
    frames = {row["frame"]: (row["file"], row["line"] or 0) for row in case.frames.iter_rows(named=True)}
    stacks = dict(case.stacks.select("stack", "frames").iter_rows())
    found: dict[int, set[Place]] = {}
    for rank, stack in case.snapshots.select("rank", "stack").drop_nulls().iter_rows():
        found.setdefault(rank, set()).update(frames[f] for f in stacks.get(stack) or () if f in frames)
    return {rank: frozenset(seen) for rank, seen in found.items()}
