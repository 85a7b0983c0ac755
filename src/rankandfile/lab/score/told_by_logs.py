"""What a person could read in an incident's logs: the group that is stuck, and the ranks that are behind in it.

An analyser of logs is asked only for what the logs contain. This says what that is, from the truth and the text alone,
with a few patterns of its own: it shares nothing with the analyser.

* The group is told if the watchdog of a rank that did nothing wrong says that a call of that group failed. Where the
  ranks never diverged, as in a network that stands still, no group is asked for.
* The ranks that are behind are told if somebody's watchdog gave up on the very call they did not join, and each of them
  either says itself, by its last enqueued number, that it had not come so far, or is the only kind of member that does
  not speak of the call. In a group of which nobody lists the members, silence tells something only if at least two
  others speak.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from rankandfile.lab.truth import Truth, long_ranks

_WRITER = re.compile(r"\[rank(\d+)\]:")
_GROUP = re.compile(
    r"\[PG ID \d+ PG GUID ([^\s(]*)(?:\(([^)]*)\))? Rank \d+\]|\[PG \d+ \(([^)]*)\) Rank \d+\]"
)
_FAILED = re.compile(r"(?:at work(?: sequence id)?|Timeout at NCCL work): (\d+)")
_ENQUEUED = re.compile(r"[Ll]ast enqueued (?:NCCL )?work: (-?\d+)")

#: Far beyond any log of the lab.
_MOST = 64 << 20


class Told(NamedTuple):
    group: bool
    behind: tuple[int, ...]
    """Empty where the logs do not tell them, or where nobody is behind."""


class _Line(NamedTuple):
    rank: int
    failed: int | None
    enqueued: int | None


def text_of(incident: Path) -> str:
    """All logs of the incident."""
    files = sorted(path for path in (incident / "evidence" / "logs").rglob("*") if path.is_file())
    return "\n".join(file.read_bytes()[:_MOST].decode("utf-8", "replace") for file in files)


def told(truth: Truth, text: str) -> Told:
    """What of the truth stands in these logs."""
    lines = [line for row in text.splitlines() if (line := _of_group(truth, row))]
    group = truth.divergence.kind != "none" and any(
        line.failed is not None and line.rank not in truth.culprits for line in lines
    )
    behind = _behind(truth)
    wanted = truth.divergence.seq
    waiting = {line.rank for line in lines if line.failed == wanted} - set(behind)
    if not wanted or not behind or not waiting:
        return Told(group, ())
    own = {line.rank for line in lines if line.enqueued is not None and line.enqueued < wanted}
    others = set(truth.divergence.members) - set(behind)
    listed = len(truth.divergence.members) == truth.world_size
    by_silence = others <= waiting and (listed or len(waiting) > 1)
    return Told(group, behind if by_silence or set(behind) <= own else ())


def _behind(truth: Truth) -> tuple[int, ...]:
    """The ranks that made no further call on the group, where others did."""
    cohorts = truth.divergence.cohorts
    if not any(cohort.op for cohort in cohorts):
        return ()
    return tuple(rank for cohort in cohorts if not cohort.op for rank in long_ranks(cohort.ranks))


def _of_group(truth: Truth, row: str) -> _Line | None:
    writer, group = _WRITER.search(row), _GROUP.search(row)
    if writer is None or group is None or not truth.divergence.group:
        return None
    name, short = group[1], group[3]
    # Before torch 2.5 a line has no name of the group that is equal on all ranks; the default group needs none.
    if name != truth.divergence.group and not (short == truth.divergence.description == "default_pg"):
        return None
    failed, enqueued = _FAILED.search(row), _ENQUEUED.search(row)
    return _Line(int(writer[1]), int(failed[1]) if failed else None, int(enqueued[1]) if enqueued else None)
