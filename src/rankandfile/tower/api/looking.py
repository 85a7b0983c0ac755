"""From the store to what a view is made of. Who was late at a moment of the past does not change, and is remembered."""

from __future__ import annotations

import asyncio
import time
from functools import partial

from rankandfile.tower.errors import missing
from rankandfile.tower.store import reads
from rankandfile.tower.store.engine import Session
from rankandfile.tower.tower import Tower
from rankandfile.tower.view.arrivals import Late, arrivals, late_at
from rankandfile.tower.view.documents import Arrivals, JobNow
from rankandfile.tower.view.job import Look, job_now, newest_of_each
from rankandfile.tower.view.kept import Said, said
from rankandfile.tower.view.lag import places
from rankandfile.tower.view.words import words

#: How fast a job goes is told by what its nodes had said so long before, or a little earlier.
_BEFORE_S, _PATIENCE_S = 15.0, 60.0
#: Who is the last is told by looks so far apart, so many of them.
_APART_S, _LOOKS = 10.0, 30
#: Who asks how a job stands within the same so many seconds gets the same.
_SAME_S = 0.5


async def look_at(tower: Tower, job: str, at: float | None) -> Look:
    """At a moment of its history; None: now. Raises Refused."""

    def look(session: Session) -> Look | None:
        found = reads.job(session, job)
        if found is None:
            return None
        until = time.time() if at is None else at
        now = _said(session, job, until, 0.0)
        newest = max((one.at for one in now), default=until)
        before = _said(session, job, newest - _BEFORE_S, newest - _BEFORE_S - _PATIENCE_S)
        first, last = reads.span(session, job) or (found.first_at, found.last_at)
        return Look(
            job=found, at=until, live=at is None, now=now, before=before or now[:0],
            words=words(reads.words(session, job)), first_at=first, last_at=last,
        )  # fmt: skip

    found = await tower.store.read(look)
    if found is None:
        raise missing("job")
    return found


async def job_at(tower: Tower, job: str, at: float | None) -> JobNow:
    """The same, as it is shown. Raises Refused."""
    moment = (job, at) if at is not None else (job, int(time.time() / _SAME_S), "now")
    known = tower.views.known(moment)
    if known is not None:
        return known
    # Beside the loop, which takes in what others send meanwhile.
    made = await asyncio.to_thread(job_now, await look_at(tower, job, at))
    return tower.views.get(moment, lambda: made)


async def arrivals_at(tower: Tower, job: str, at: float | None) -> Arrivals:
    """Who was last, over the minutes before this moment."""

    def look(session: Session) -> Arrivals:
        # At times that all who ask have in common.
        last = int((time.time() if at is None else at) / _APART_S)
        times = [number * _APART_S for number in range(last - _LOOKS + 1, last + 1)]
        looks = [tower.looks.get((job, one), partial(_late_at, session, job, one)) for one in times]
        return Arrivals(since=times[0], until=times[-1], arrivals=arrivals(looks))

    return await tower.store.read(look)


def _late_at(session: Session, job: str, at: float) -> list[Late]:
    # What a node said long before is no part of this moment.
    return late_at(at, places(newest_of_each(_said(session, job, at, at - _APART_S))))


def _said(session: Session, job: str, until: float, since: float) -> list[Said]:
    return [said(one.sender, one.at, one.body) for one in reads.newest(session, job, until, since)]
