"""What changes the store: each a part of a transaction of the writer's."""

from __future__ import annotations

import zlib

from rankandfile.tower.errors import Refused
from rankandfile.tower.store.engine import Session
from rankandfile.tower.store.rows import CaseRow, FindingRow, Post, Told

#: After so long whoever was reading a case is believed dead.
CLAIM_S = 600.0


def add_post(session: Session, post: Post, told: Told, most_jobs: int) -> None:
    _heard_of(session, post.job, post.at, most_jobs)
    session.run(
        "insert into posts (job, sender, at, step, behind, open_s, body) values (?, ?, ?, ?, ?, ?, ?)",
        (
            post.job, post.sender, post.at, told.high_step, told.behind, told.open_s,
            zlib.compress(post.body, 1),
        ),
    )  # fmt: skip
    session.run(
        "insert into senders (job, sender, at, ranks, world, low_step, high_step, open_s, behind, gone)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (job, sender) do update set at = excluded.at,"
        " ranks = excluded.ranks, world = excluded.world, low_step = excluded.low_step,"
        " high_step = excluded.high_step, open_s = excluded.open_s, behind = excluded.behind,"
        " gone = excluded.gone",
        (
            post.job, post.sender, post.at, told.ranks, told.world, told.low_step, told.high_step,
            told.open_s, told.behind, told.gone,
        ),
    )  # fmt: skip


def add_finding(session: Session, job: str, found: FindingRow, most: int, most_jobs: int) -> bool:
    """Whether it is new: a sender that did not hear the answer sends it again."""
    _heard_of(session, job, found.at, most_jobs)
    if session.run("select 1 from findings where job = ? and name = ?", (job, found.name)):
        return False
    if _count(session, "findings", job) >= most:
        raise Refused(409, "findings", f"the job has {most:,} findings already: no more are kept")
    session.run(
        "insert into findings (job, name, at, kind, body) values (?, ?, ?, ?, ?) on conflict do nothing",
        (job, found.name, found.at, found.kind, found.body),
    )
    return True


def add_case(session: Session, case: CaseRow, archive: bytes, most: int, most_jobs: int) -> None:
    _heard_of(session, case.job, case.at, most_jobs)
    if _count(session, "cases", case.job) >= most:
        raise Refused(409, "cases", f"the job has {most} cases already: no more are kept")
    session.run(
        "insert into cases (id, job, at, name, state, told) values (?, ?, ?, ?, ?, ?)",
        (case.id, case.job, case.at, case.name, case.state, case.told),
    )
    put_file(session, case.id, "archive", archive)


def put_file(session: Session, owner: str, name: str, body: bytes) -> None:
    session.run(
        "insert into files (owner, name, body) values (?, ?, ?)"
        " on conflict (owner, name) do update set body = excluded.body",
        (owner, name, body),
    )


def case_to_claim(session: Session, now: float) -> str | None:
    """The oldest case that nobody reads."""
    rows = session.run(
        "select id from cases where state = 'waiting' or (state = 'reading' and claimed_at < ?)"
        " order by at limit 1",
        (now - CLAIM_S,),
    )
    return str(rows[0][0]) if rows else None


def claim_case(session: Session, now: float) -> str | None:
    """The same, which is now the caller's."""
    case = case_to_claim(session, now)
    if case is not None:
        session.run("update cases set state = 'reading', claimed_at = ? where id = ?", (now, case))
    return case


def case_was_read(session: Session, case: str, state: str, told: str, made: dict[str, bytes]) -> None:
    session.run(
        "update cases set state = ?, told = ?, claimed_at = null where id = ?", (state, told[:2000], case)
    )
    for name, body in made.items():
        put_file(session, case, name, body)


def release_cases(session: Session) -> None:
    """For a tower that is the only one of its store: what it read when it ended is to be read again."""
    session.run("update cases set state = 'waiting' where state = 'reading'")


def secret(session: Session, fresh: str) -> str:
    """What seals cookies and links: made once, so that they outlive a restart."""
    session.run(
        "insert into meta (name, value) values ('secret', ?) on conflict (name) do nothing", (fresh,)
    )
    return str(session.run("select value from meta where name = 'secret'")[0][0])


def _heard_of(session: Session, job: str, at: float, most: int) -> None:
    if session.run("select 1 from jobs where job = ?", (job,)):
        session.run("update jobs set last_at = ? where job = ? and last_at < ?", (at, job, at))
        return
    count = session.run("select count(*) from jobs")[0][0]
    if isinstance(count, int) and count >= most:
        raise Refused(409, "jobs", f"the tower keeps {most:,} jobs already: no more are taken")
    session.run(
        "insert into jobs (job, first_at, last_at) values (?, ?, ?) on conflict (job) do nothing",
        (job, at, at),
    )


def _count(session: Session, table: str, job: str) -> int:
    return int(session.run(f"select count(*) from {table} where job = ?", (job,))[0][0] or 0)
