"""NCCL's own log of calls (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=COLL), compared between the ranks of a communicator.

Every rank numbers its calls, so one number is one collective: whoever asked for something else there is seen at once,
and whoever has issued fewer. That a rank is behind counts only where it is many calls, or where somebody gave up: logs
are written in pieces, and a moving job differs by a few calls at any moment.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import polars as pl
from msgspec import Struct, field
from msgspec.structs import replace

from rankandfile.model.diagnosis import Missing
from rankandfile.model.events import event_id
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.from_logs.accounts import fields_of
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.words import counted, ranks_words, upper, verb

_FEWEST, _TIMES = 3, 3
#: So many calls a host issues ahead of its device at times, and no more.
_MANY_MORE = 16
_LOG = "The library's log of calls"

_Asked = tuple[str, int | None, object, object]
"""Operation, count, datatype, root: what all ranks must agree on."""


#: As NCCL counts them.
_DTYPES = {
    0: "int8", 1: "uint8", 2: "int32", 3: "uint32", 4: "int64", 5: "uint64", 6: "float16", 7: "float32", 8: "float64",
    9: "bfloat16",
}  # fmt: skip


class _Stream(Struct):
    """One rank's calls in one communicator."""

    rank: int
    calls: dict[int, tuple[_Asked, str]] = field(default_factory=dict)

    @property
    def last(self) -> int:
        return max(self.calls)


@finder(precedence=30, of="logs")
def call_logs(facts: Facts, _: WaitEnd) -> Finding | None:
    for streams in _communicators(facts):
        found = _differ(facts, streams) or _behind(facts, streams)
        if found is not None:
            return found
    return None


def _communicators(facts: Facts) -> list[list[_Stream]]:
    """Streams of one communicator together: by its id, which its setup printed, else by its size if all ranks fit."""
    events = facts.case.events.with_columns(pl.col("kind").cast(pl.String))
    ids: dict[tuple[object, ...], tuple[str, int, int]] = {}
    for row in events.filter(pl.col("kind") == "nccl_init").iter_rows(named=True):
        fields = fields_of(row)
        if fields.get("comm_id"):
            size = int(fields.get("nranks") or 0)
            ids[row["host"], row["pid"] or row["log"], fields.get("comm")] = (
                str(fields["comm_id"]),
                row["group_rank"],
                size,
            )
    largest = max((size for _, _, size in ids.values()), default=0)
    calls = events.filter((pl.col("kind") == "nccl_call") & pl.col("seq").is_not_null()).sort("log", "line")
    found: dict[str, dict[int, _Stream]] = defaultdict(dict)
    for row in calls.iter_rows(named=True):
        fields = fields_of(row)
        name, place, size = ids.get(
            (row["host"], row["pid"] or row["log"], fields.get("comm")),
            (f"of {fields.get('nranks') or fields.get('comm')} ranks", None, 0),
        )
        # A place in a smaller communicator is no rank of the job.
        rank = row["rank"] if row["rank"] is not None else place if size == largest else None
        if rank is None:
            continue
        asked = (str(row["op"]), row["size_in"], fields.get("datatype"), fields.get("root"))
        stream = found[name].setdefault(rank, _Stream(rank))
        stream.calls[row["seq"]] = (asked, event_id(row["log"], row["line"]))
    return [list(streams.values()) for streams in found.values() if len(streams) > 1]


def _differ(facts: Facts, streams: list[_Stream]) -> Finding | None:
    """The first number at which two ranks asked for different things."""
    for number in sorted({n for stream in streams for n in stream.calls}):
        here = {stream.rank: stream.calls[number] for stream in streams if number in stream.calls}
        sides: dict[_Asked, list[int]] = defaultdict(list)
        for rank, (asked, _) in here.items():
            sides[_comparable(asked)].append(rank)
        if len(sides) > 1:
            finding = _different(number, here, sorted(sides.values(), key=lambda ranks: -len(ranks)))
            return _none_the_wiser(finding) if _went_on(facts, streams, number) else finding
    return None


def _went_on(facts: Facts, streams: list[_Stream], number: int) -> bool:
    """All issued the same calls behind it, and nobody gave up: NCCL took what it got for what it expected."""
    if facts.hung or facts.accounts.gave_up or len({stream.last for stream in streams}) > 1:
        return False
    return min(sum(n > number for n in stream.calls) for stream in streams) >= _MANY_MORE


def _none_the_wiser(finding: Finding) -> Finding:
    return replace(
        finding,
        hang=None,
        sentence=f"{finding.sentence} All of them issued the same calls after it: NCCL compares nothing, and the job "
        "may have gone on with wrong numbers.",
        # Of a call that was taken for granted nobody waits.
        unadvised=("anti_advice",),
    )


def _comparable(asked: _Asked) -> _Asked:
    op, count, datatype, root = asked
    if op.lower().startswith(("send", "recv", "alltoall", "all_to_all", "gather", "scatter")):
        return (op, None, None, None)
    return (op, count, datatype, root if _rooted(op) else None)


def _rooted(op: str) -> bool:
    return op.lower().startswith(("broadcast", "reduce")) and "scatter" not in op.lower()


def _different(number: int, here: dict[int, tuple[_Asked, str]], sides: list[list[int]]) -> Finding:
    few = sorted(rank for side in sides[1:] for rank in side)
    clear = len(sides[0]) >= max(_FEWEST, _TIMES * len(few))
    likely = len(sides[0]) >= max(_FEWEST, 2 * len(few))
    one, other = here[sides[0][0]][0], here[sides[1][0]][0]
    cause = (
        "different_collective"
        if one[0] != other[0]
        else "size_mismatch"
        if one[1] != other[1]
        else "dtype_mismatch"
        if one[2] != other[2]
        else "root_mismatch"
    )
    told = "; ".join(f"{ranks_words(sorted(side))}: {_words(here[side[0]][0])}" for side in sides[:4])
    return Finding(
        cause=cause,
        confidence="supported" if clear or not likely else "hypothesis",
        sentence=f"{_LOG}: at {_number(one, number)} of one communicator not all asked for the same: {told}."
        + ("" if clear else " Who of them is out of line, this call alone does not tell."),
        culprits=tuple(few) if likely else (),
        doing={rank: f"asked for {_words(here[rank][0])}" for rank in few} if likely else {},
        evidence=tuple(here[side[0]][1] for side in sides[:4]),
        contradicted_by="calls in between that a rank's log has lost",
        alternatives=()
        if clear
        else tuple(
            perhaps(
                cause,
                f"{upper(ranks_words(sorted(side)))} may be out of line.",
                side,
                decided_by="the source: which of these calls belongs there",
            )
            for side in (sides[:0] if likely else sides[:2])
        ),
    )


def _number(asked: _Asked, number: int) -> str:
    """NCCL prints its own number, in hexadecimal digits; others' calls are counted as they were logged."""
    return f"opCount {number:x}" if isinstance(asked[2], int) else f"call {number + 1} in the log"


def _words(asked: _Asked) -> str:
    op, count, datatype, root = asked
    root_words = f", root {root}" if _rooted(op) and root is not None else ""
    named = f"datatype {datatype}" + (f", {_DTYPES[datatype]}" if datatype in _DTYPES else "")
    return f"{op} of {count:,} ({named}{root_words})" if count is not None else op


def _behind(facts: Facts, streams: list[_Stream]) -> Finding | None:
    usual, most = Counter(stream.last for stream in streams).most_common(1)[0]
    late = sorted(stream.rank for stream in streams if stream.last < usual)
    ahead = [stream for stream in streams if stream.last > usual]
    if not late or ahead or most < len(late):
        return None
    by_rank = {stream.rank: stream for stream in streams}
    clear = most >= max(_FEWEST, _TIMES * len(late)) and bool(facts.accounts.gave_up or facts.hung)
    last = by_rank[late[0]]
    others = next(stream for stream in streams if stream.last == usual)
    return Finding(
        cause="undetermined",
        confidence="supported" if clear else "hypothesis",
        sentence=(
            f"{_LOG}: {counted(most, 'rank')} issued {_number(others.calls[usual][0], usual)} "
            f"({_words(others.calls[usual][0])}), and the last of {ranks_words(late)} is "
            f"{_number(last.calls[last.last][0], last.last)} "
            f"({_words(last.calls[last.last][0])}). {upper(ranks_words(late))} {verb(late, 'is', 'are')} behind, if "
            f"{verb(late, 'its log is', 'their logs are')} complete."
        ),
        culprits=tuple(late) if clear else (),
        doing={
            rank: f"last issued {_number(by_rank[rank].calls[by_rank[rank].last][0], by_rank[rank].last)}"
            for rank in late
        }
        if clear
        else {},
        evidence=(last.calls[last.last][1], others.calls[usual][1]),
        contradicted_by="a later call of that rank, which its log has lost",
        alternatives=(
            perhaps(
                "skipped_collective",
                f"{upper(ranks_words(late))} may have left out the call, or be held up before it.",
                late,
                decided_by="its stack (py-spy dump --pid PID)",
            ),
        ),
        missing=(Missing(what="where that rank stands", how="its stack: py-spy dump --pid PID"),),
    )
