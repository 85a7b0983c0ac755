"""What the store is asked. Nothing here changes it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from rankandfile.tower.store.engine import Row, Session, Value
from rankandfile.tower.store.rows import CaseRow, FindingRow, HistoryRow, JobRow, Post, Told, Word

_LARGEST_BODY = 64 << 20

#: Steps a second are told by what was said this long before.
_BEFORE_S = 20.0

_JOBS = """
select j.job, j.title, j.first_at, j.last_at, count(s.sender), count(s.ended), sum(s.ranks), max(s.world),
 min(s.low_step), max(s.high_step), max(s.open_s), max(s.behind), sum(s.gone), max(s.moved_at), max(s.ended),
 (select count(*) from findings f where f.job = j.job), (select count(*) from cases c where c.job = j.job)
from (select * from jobs {of}) j left join senders s on s.job = j.job
group by j.job, j.title, j.first_at, j.last_at order by j.last_at desc, j.job"""


def jobs(session: Session, like: str, limit: int, offset: int) -> list[JobRow]:
    """Those heard of last first. `like` is a part of their name."""
    pattern = "%" + like.replace("!", "!!").replace("%", "!%").replace("_", "!_") + "%"
    # First the jobs, then what is counted for each.
    of = "where job like ? escape '!' or title like ? escape '!' order by last_at desc, job limit ? offset ?"
    rows = session.run(_JOBS.replace("{of}", of), (pattern, pattern, limit, offset))
    return [_job(session, row) for row in rows]


def job(session: Session, name: str) -> JobRow | None:
    rows = session.run(_JOBS.replace("{of}", "where job = ?"), (name,))
    return _job(session, rows[0]) if rows else None


def job_count(session: Session) -> int:
    return int(session.run("select count(*) from jobs")[0][0] or 0)


def newest(session: Session, name: str, until: float, since: float) -> list[Post]:
    """Of each sender of the job, what it said last in this time."""
    senders = [row[0] for row in session.run("select sender from senders where job = ?", (name,))]
    found = []
    for sender in sorted(map(str, senders)):
        rows = session.run(
            "select at, body from posts where job = ? and sender = ? and at <= ? and at >= ?"
            " order by at desc, id desc limit 1",
            (name, sender, until, since),
        )
        found += [Post(job=name, sender=sender, at=_number(at), body=unpacked(body)) for at, body in rows]
    return found


def history(session: Session, name: str, since: float, until: float, points: int) -> list[HistoryRow]:
    """At most so many stretches of this time in which anybody said something."""
    width = max((until - since) / points, 0.001)
    rows = session.run(
        "select max(at), max(step), max(behind), max(open_s) from posts where job = ? and at >= ? and at <= ?"
        " group by cast((at - ?) / ? as bigint) order by 1",
        (name, since, until, since, width),
    )
    return [
        HistoryRow(at=_number(at), step=_int(step), behind=_int(behind), open_s=_float(open_s))
        for at, step, behind, open_s in rows
    ]


def span(session: Session, name: str) -> tuple[float, float] | None:
    """From when until when the job has a history."""
    first, last = session.run("select min(at), max(at) from posts where job = ?", (name,))[0]
    return None if first is None else (_number(first), _number(last))


def words(session: Session, name: str) -> list[Word]:
    rows = session.run("select kind, id, body from words where job = ?", (name,))
    return [Word(kind=str(kind), id=str(one), body=_bytes(body)) for kind, one, body in rows]


def findings(session: Session, name: str, limit: int) -> list[FindingRow]:
    """The newest first."""
    rows = session.run(
        "select name, at, kind, body from findings where job = ? order by at desc, id desc limit ?",
        (name, limit),
    )
    return [
        FindingRow(name=str(one), at=_number(at), kind=str(kind), body=_bytes(body))
        for one, at, kind, body in rows
    ]


def cases(session: Session, name: str) -> list[CaseRow]:
    """The newest first."""
    rows = session.run(
        "select id, job, at, name, state, told from cases where job = ? order by at desc, id", (name,)
    )
    return [_case(row) for row in rows]


def case(session: Session, case_id: str) -> CaseRow | None:
    rows = session.run("select id, job, at, name, state, told from cases where id = ?", (case_id,))
    return _case(rows[0]) if rows else None


def file(session: Session, owner: str, name: str) -> bytes | None:
    rows = session.run("select body from files where owner = ? and name = ?", (owner, name))
    return _bytes(rows[0][0]) if rows else None


def newest_numbers(session: Session) -> tuple[int, int]:
    """Of the newest post, and of the newest finding: what comes later is greater."""
    posts = session.run("select coalesce(max(id), 0) from posts")[0][0]
    found = session.run("select coalesce(max(id), 0) from findings")[0][0]
    return int(posts or 0), int(found or 0)


def heard_of_since(session: Session, posts: int, findings: int) -> list[tuple[str, str]]:
    """Jobs that something has come in for since these numbers, and what: `digests` or `finding`."""
    told = [("digests", "posts", posts), ("finding", "findings", findings)]
    return [
        (str(name), kind)
        for kind, table, number in told
        for (name,) in session.run(f"select distinct job from {table} where id > ?", (number,))
    ]


def counts(session: Session) -> dict[str, int]:
    """Findings by their kind, over all jobs."""
    rows = session.run("select kind, count(*) from findings group by kind")
    return {str(kind): int(count or 0) for kind, count in rows}


def unpacked(body: Value) -> bytes:
    return zlib.decompressobj().decompress(_bytes(body), _LARGEST_BODY)


def _job(session: Session, row: Sequence[Value]) -> JobRow:
    name, title, first, last, senders, ended, ranks, world, low, high, open_s, behind, gone, moved, code = (
        row[:15]
    )
    told = Told(
        ranks=int(ranks or 0), world=_int(world), low_step=_int(low), high_step=_int(high),
        open_s=_float(open_s), behind=_int(behind), gone=int(gone or 0), moved_at=_float(moved), ended=_int(code),
    )  # fmt: skip
    return JobRow(
        job=str(name), title=str(title), first_at=_number(first), last_at=_number(last),
        senders=int(senders or 0), told=told, ended=int(ended or 0),
        before=_before(session, str(name), _number(last)) if high is not None else None,
        findings=int(row[15] or 0), cases=int(row[16] or 0),
    )  # fmt: skip


def _before(session: Session, name: str, last: float) -> tuple[float, int] | None:
    rows = session.run(
        "select at, step from posts where job = ? and at >= ? and step is not null order by at limit 1",
        (name, last - _BEFORE_S),
    )
    return (_number(rows[0][0]), int(rows[0][1] or 0)) if rows else None


def _case(row: Row) -> CaseRow:
    one, name, at, file_name, state, told = row
    return CaseRow(
        id=str(one), job=str(name), at=_number(at), name=str(file_name), state=str(state), told=str(told)
    )


def _int(value: Value) -> int | None:
    return None if value is None else int(value)


def _float(value: Value) -> float | None:
    return None if value is None else float(value)


def _number(value: Value) -> float:
    return float(value or 0.0)


def _bytes(value: Value) -> bytes:
    return value if isinstance(value, bytes) else bytes(value or b"")  # type: ignore[arg-type]
