"""What is forgotten, and when: history first gets coarser, then goes; a job goes whole, long after its last sign."""

from __future__ import annotations

from rankandfile.tower.settings import Settings
from rankandfile.tower.store.engine import Engine, Session

#: Of old history, one of a sender's posts in so many seconds stays.
COARSE_S = 30.0
#: How much of the oldest history goes at a time where the store is too large.
_SHARE = 10
#: Beyond this much of what the store may be, the oldest goes.
_BRIM = 0.8

_COARSER = """
delete from posts where at < ? and at >= ? and id not in (
 select min(id) from posts where at < ? and at >= ? group by job, sender, cast(at / ? as bigint))"""


def forget(session: Session, settings: Settings, now: float) -> None:
    """Two goes of at most this much time apart leave no post of that age unthinned."""
    long_ago = now - settings.keep_s
    for (job,) in session.run("select job from jobs where last_at < ? limit 200", (long_ago,)):
        forget_job(session, str(job))
    session.run("delete from posts where at < ?", (long_ago,))
    # An hour's worth at a time: what is older has been thinned before.
    since, until = now - settings.fine_s - 3600.0, now - settings.fine_s
    session.run(_COARSER, (until, since, until, since, COARSE_S))


def make_room(session: Session, engine: Engine, settings: Settings) -> bool:
    """Whether the store was near its bound, and its oldest history went. Cases and findings stay."""
    if engine.size(session) < _BRIM * settings.store_bytes:
        return False
    first, last = session.run("select min(at), max(at) from posts")[0]
    if first is None or last is None:
        return False
    # Not by numbers of rows: all jobs keep the same stretch of time.
    session.run("delete from posts where at <= ?", (float(first) + (float(last) - float(first)) / _SHARE,))
    return True


def forget_job(session: Session, job: str) -> None:
    session.run("delete from files where owner in (select id from cases where job = ?)", (job,))
    for table in ("cases", "findings", "posts", "senders", "words", "jobs"):
        session.run(f"delete from {table} where job = ?", (job,))
