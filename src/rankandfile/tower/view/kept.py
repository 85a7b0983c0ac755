"""A report as the history keeps it: what every second tells, without what is stored once, or compared elsewhere."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from rankandfile.model.digest import Digest, Report, Standing
from rankandfile.tower.store.rows import Told
from rankandfile.tower.web.route import JOB

#: Clocks of hosts that are this far from the tower's are put right by it; less may be the way of the message.
SKEW_S = 2.0
#: Seconds since 1970 that a clock may show: those of the year 2500.
_LATEST = 1.7e10
_GONE = ("gone",)


@dataclass(frozen=True, kw_only=True)
class Said:
    """What one node said. All its times are the tower's."""

    node: str
    at: float
    digests: tuple[Digest, ...]
    ended: int | None
    skew: float
    """How far the node's clock is before the tower's; 0 where it may be right."""


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    time: float
    digests: tuple[Digest, ...]
    ended: int | None = None


_decoder = msgspec.msgpack.Decoder(_Kept)


def kept(report: Report) -> bytes:
    digests = tuple(
        msgspec.structs.replace(one, groups=tuple(map(_without_sums, one.groups))) for one in report.digests
    )
    return msgspec.msgpack.encode(_Kept(report.time, digests, report.ended))


def sound(report: Report) -> str | None:
    """What is wrong with its numbers, as no schema can say it; None for nothing."""
    ages = [one.open_s for digest in report.digests for one in digest.groups if one.open_s is not None]
    times = [report.time, report.job.started]
    times += [time for one in report.digests for time in (one.time, one.since)]
    times += [time for one in report.findings for time in (one.time, one.since)]
    if not all(map(math.isfinite, (*ages, *times))) or min((*ages, *times)) < 0:
        return "a time that is no time"
    if max(times) > _LATEST or max(ages, default=0.0) > _LATEST:
        return "a time that is too far in the future"
    if report.ended is not None and not -(1 << 31) < report.ended < 1 << 31:
        return "an exit code that is none"
    return None


def _without_sums(standing: Standing) -> Standing:
    """Watchers compare them while they are new."""
    return msgspec.structs.replace(standing, hash=0, base=0, prefixes=())


def said(node: str, at: float, body: bytes) -> Said:
    """What was kept of a report that came in at this time."""
    one = _decoder.decode(body)
    skew = one.time - at
    if abs(skew) < SKEW_S:
        return Said(node=node, at=at, digests=one.digests, ended=one.ended, skew=0.0)
    put_right = tuple(
        msgspec.structs.replace(digest, time=digest.time - skew, since=max(0.0, digest.since - skew))
        for digest in one.digests
    )
    return Said(node=node, at=at, digests=put_right, ended=one.ended, skew=skew)


def told(report: Report) -> Told:
    digests = report.digests
    steps = [one.step for one in digests if one.step is not None]
    first: dict[str, int] = {}
    for one in digests:
        for standing in one.groups:
            first[standing.group] = max(first.get(standing.group, 0), standing.last)
    open_s = [standing.open_s for one in digests for standing in one.groups if standing.open_s is not None]
    return Told(
        ranks=len(digests),
        world=report.job.world or None,
        low_step=min(steps, default=None),
        high_step=max(steps, default=None),
        open_s=max(open_s, default=None),
        behind=max(
            (first[standing.group] - standing.last for one in digests for standing in one.groups),
            default=None,
        ),
        gone=sum(one.state in _GONE for one in digests),
        moved_at=max((one.since for one in digests), default=0.0) or None,
        ended=report.ended,
    )


def key_of(job: str) -> str:
    """The name of a job in addresses: its id, where that can stand in one."""
    if re.fullmatch(JOB, job):
        return job
    letters = re.sub(r"[^A-Za-z0-9._-]+", "-", job).strip("-._")[:80] or "job"
    return f"{letters}-{sha256(job.encode('utf-8', 'replace')).hexdigest()[:12]}"
