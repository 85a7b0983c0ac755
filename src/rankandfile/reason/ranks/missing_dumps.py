"""Why a rank left no dump, as far as anything tells. A missing dump is not a missing rank.

The best-supported reason comes first: an end of the process, then what its log says of its dump, then what is known
of the file, then of its host and of the interpreter's lock. A rank that raised and sits in its teardown has stopped its
monitor before, and never dumps: often just the guilty one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Literal

import polars as pl
from msgspec import Struct

from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.model.ledger import NO_ROOM, NOBODYS, dump_id
from rankandfile.reason.waits.facts import WaitFacts
from rankandfile.reason.words import ranks_words, verb

from .core_files import core_file
from .from_logs.accounts import fields_of
from .interpreter_lock import Held, held

Why = Literal[
    "died",
    "teardown",
    "gil",
    "late",
    "truncated",
    "set_aside",
    "unreadable",
    "not_collected",
    "unnamed",
    "ended",
    "unreachable",
    "no_part",
    "unknown",
]

NAME_THEM = "name each file for its rank, as torch does: nccl_trace_rank_3"
_HOW: dict[Why, str] = {
    "died": "nothing can be had from a process that is gone: its core dump, its log and its exit code remain",
    "teardown": "let the failing path dump before it destroys its process group; py-spy dump shows where it stands",
    "gil": "py-spy dump --pid PID does not need the interpreter's lock, and shows who holds it",
    "late": "a shorter ring (TORCH_FR_BUFFER_SIZE) or a longer wait for dumps; stacks in dumps take the longest",
    "truncated": "leave the process time to write before it is killed, and look for a full disk",
    "set_aside": "empty the dump folder before each attempt, or put the job's id into the dump path",
    "unreadable": "copy it again from where it was written: it may have been cut or changed on the way",
    "not_collected": "point TORCH_FR_DUMP_TEMP_FILE to storage that all hosts share and that outlives the job",
    "unnamed": NAME_THEM,
    "ended": "let every rank write before the job is ended: the first failure makes a launcher end all others",
    "unreachable": "collect again once the host is back, or ask its administrator for its state",
    "no_part": "nothing to do: it is a member of no group of this job",
    "unknown": "point TORCH_FR_DUMP_TEMP_FILE to shared storage, and collect from every rank before the teardown",
}
_MOST, _MOST_IDS = 4, 8
_FEWEST = 2
"""Ranks that a host must have before their absence together says something of the host."""
_SAID = {"gil_not_acquired": "gil", "dump_late": "late", "dump_written": "written", "dump_started": "started"}


class Reason(Struct, frozen=True):
    why: Why
    words: str
    evidence: tuple[str, ...] = ()
    how: str = ""
    """What helps in this very case; empty: what helps with any such reason."""

    @property
    def left_a_file(self) -> bool:
        return self.why in ("set_aside", "truncated", "unreadable")


def absent_ranks(facts: WaitFacts) -> list[int]:
    """Ranks of the job without a whole dump."""
    used = facts.case.dumps_used.filter(pl.col("rank").is_not_null() & ~pl.col("truncated").fill_null(False))
    everyone = _members(facts) | set(range(facts.case.world_size or 0))
    return sorted(everyone - set(used["rank"].to_list()))


def reasons(facts: WaitFacts, ranks: list[int]) -> dict[int, Reason]:
    said, locks, left = _said(facts, ranks), held(facts.case, ranks), _left_behind(facts, ranks)
    files, members, otherwise = _files(facts), _members(facts), _otherwise(facts)
    return {
        rank: _reason(
            facts, rank, said[rank], files.get(rank), locks.get(rank), left.get(rank), rank in members
        )
        or otherwise
        for rank in ranks
    }


def _members(facts: WaitFacts) -> set[int]:
    return {rank for ranks in facts.membership.members.values() for rank in ranks}


def without_dumps(facts: WaitFacts, ranks: list[int], left_none: str = "left no dump") -> str:
    """'rank 3 left no dump; the dumps of ranks 1 and 2 are set aside': what is there is not said to be absent."""
    told: dict[str, list[int]] = defaultdict(list)
    for rank, reason in reasons(facts, ranks).items():
        told[_THERE[reason.why] if reason.left_a_file else ""].append(rank)
    return "; ".join(
        f"the dump{'s' * (len(those) > 1)} of {ranks_words(those)} {verb(those, 'is', 'are')} {how}"
        if how
        else f"{ranks_words(those)} {left_none}"
        for how, those in told.items()
    )


_THERE: dict[Why, str] = {
    "set_aside": "set aside",
    "truncated": "cut short",
    "unreadable": "here, and cannot be read",
}


def missing_dumps(facts: WaitFacts, ranks: list[int]) -> tuple[list[Missing], list[str]]:
    """One entry per reason, ranks of the same reason together; and the evidence for them."""
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    ids: list[str] = []
    for rank, reason in reasons(facts, ranks).items():
        if reason.why == "no_part":
            # There is nothing to be had from it, and nothing that anybody could do.
            continue
        alike[reason.words, reason.how or _HOW[reason.why]].append(rank)
        ids += reason.evidence[:2] if len(ids) < _MOST_IDS else ()
    return [
        Missing(what=f"the dump of {ranks_words(those)}: {words}", how=how)
        for (words, how), those in list(alike.items())[:_MOST]
    ], ids


def _said(facts: WaitFacts, ranks: list[int]) -> dict[int, dict[str, Reason]]:
    """What the rank's own log says of its dump."""
    rows = facts.case.events.filter(
        pl.col("kind").cast(pl.String).is_in(list(_SAID)) & pl.col("rank").is_in(ranks)
    )
    out: dict[int, dict[str, Reason]] = defaultdict(dict)
    for row in rows.iter_rows(named=True):
        what = _SAID[row["kind"]]
        path = fields_of(row).get("path")
        out[row["rank"]][what] = Reason("unknown", str(path or ""), (event_id(row["log"], row["line"]),))
    return out


def _left_behind(facts: WaitFacts, ranks: list[int]) -> dict[int, Reason]:
    """Ranks of hosts from which nobody's dump came, while those of other hosts did."""
    hosts, absent = facts.accounts.hosts, set(ranks)
    on: dict[str, set[int]] = defaultdict(set)
    for rank, host in hosts.items():
        on[host].add(rank)
    out: dict[int, Reason] = {}
    for host, there in on.items():
        if there <= absent and len(there) >= _FEWEST and set(hosts) - absent:
            words = f"none of the {len(there)} dumps of host {host} is here: its folder was not collected"
            out.update({rank: Reason("not_collected", words) for rank in there})
    return out


def _lock(lock: Held) -> Reason:
    if lock.function is not None:
        words = f"its dump needs the interpreter's lock, which {lock.function} holds and does not give away"
        return Reason("gil", words, lock.evidence)
    return Reason(
        "gil", "it did not answer the debug server either, as one that lacks the interpreter's lock"
    )


def _reason(
    facts: WaitFacts,
    rank: int,
    said: dict[str, Reason],
    file: Reason | None,
    lock: Held | None,
    left_behind: Reason | None,
    takes_part: bool,
) -> Reason | None:
    accounts = facts.accounts
    end, stand = accounts.ends.get(rank), facts.hosts.get(rank)
    if end is not None and accounts.gone(rank):
        words = f"its process {end.happened}"
        core = core_file(facts.case, accounts, rank)
        if core is not None:
            where, evidence = core
            return Reason("died", words, (*end.evidence[:1], evidence), f"{_HOW['died']}; {where}")
        return Reason("died", words, end.evidence)
    if rank in accounts.unreachable:
        lost = accounts.unreachable[rank]
        return Reason("unreachable", lost.words, lost.evidence)
    if stand is not None and stand.activity == "teardown":
        return Reason("teardown", f"it is stuck in its teardown, {stand.phrase}", stand.evidence)
    if rank in accounts.raised and accounts.alive(rank) and stand is None:
        error = accounts.raised[rank]
        return Reason("teardown", f"it raised {error.words}, and is on its way out", error.evidence)
    if "gil" in said:
        return Reason(
            "gil", "its dump needed the interpreter's lock, and did not get it", said["gil"].evidence
        )
    if lock is not None and lock.function is not None:
        return _lock(lock)
    if "late" in said:
        return Reason("late", "it was still writing when its time was up", said["late"].evidence)
    if file is not None:
        return file
    if unreadable(facts, rank):
        return Reason("unreadable", "its file is here, and cannot be read")
    if "written" in said:
        where = f" to {said['written'].words}" if said["written"].words else ""
        return Reason(
            "not_collected", f"written{where}, but not among the files here", said["written"].evidence
        )
    if "started" in said:
        words = (
            "it began to write, and no file is here: never collected, or held up by the interpreter's lock"
        )
        return Reason("not_collected", words, said["started"].evidence)
    if not takes_part:
        return Reason("no_part", "it is in no group of this job")
    if left_behind is not None:
        return left_behind
    if lock is not None:
        return _lock(lock)
    if end is not None and end.kind == "echo":
        return Reason("ended", f"it {end.happened}, and nothing tells that it began to write", end.evidence)
    return None


def _otherwise(facts: WaitFacts) -> Reason:
    """Of ranks of which nothing else tells."""
    unnamed = facts.case.dumps.filter(pl.col("rank").is_null())["dump"]
    if not len(unnamed):
        return Reason("unknown", "nothing tells why it is not here")
    which = "the dump" if len(unnamed) == 1 else f"one of the {len(unnamed):,} dumps"
    return Reason("unnamed", f"{which} of which nothing tells the rank may be its", (dump_id(unnamed[0]),))


def _files(facts: WaitFacts) -> dict[int, Reason]:
    """Of ranks whose file is there, and is not what it should be."""
    found: dict[int, Reason] = {}
    for row in facts.case.dumps.filter(pl.col("rank").is_not_null()).iter_rows(named=True):
        how = ""
        if row["set_aside"] is not None:
            why: Why = "set_aside"
            words = f"its file was set aside: {row['set_aside']}"
            if row["set_aside"] == NO_ROOM:
                how = "name fewer files, or let reading take more memory"
            elif row["set_aside"].endswith(NOBODYS):
                how = "collect the dumps of these ranks again: all of these files but one are copies of it"
        elif row["truncated"]:
            why, words = "truncated", "its file ends early, and what came last is lost"
        else:
            continue
        found.setdefault(row["rank"], Reason(why, words, (dump_id(row["dump"]),), how))
    return found


def unreadable(facts: WaitFacts, rank: int) -> bool:
    """Whether a file that could not be read at all bears this rank's name: it is not absent, but unknown."""
    files = [note.file for note in facts.case.notes if "not readable as a dump" in note.what]
    named = rf"rank[_-]?0*{rank}(?![0-9])[^/]*$"
    return any(re.search(named, file) for file in files)
