"""What changes the store: each a part of a transaction of the writer's."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import fields

from rankandfile.tower.errors import Refused
from rankandfile.tower.store.engine import Session
from rankandfile.tower.store.rows import CaseRow, FindingRow, Post, Told, Word

_TOLD = tuple(one.name for one in fields(Told))

#: Nodes that tell of one job.
MOST_SENDERS = 4_096
#: After so long whoever was reading a case is believed dead.
CLAIM_S = 600.0


def heard_of(session: Session, job: str, title: str, at: float, most: int) -> None:
    """Before anything else of a job. Raises Refused."""
    known = session.run("select title from jobs where job = ?", (job,))
    if known:
        session.run("update jobs set last_at = ?, title = ? where job = ?", (at, title or known[0][0], job))
        return
    if int(session.run("select count(*) from jobs")[0][0] or 0) >= most:
        raise Refused(409, "jobs", f"the tower keeps {most:,} jobs already: no more are taken")
    session.run("insert into jobs (job, title, first_at, last_at) values (?, ?, ?, ?)", (job, title, at, at))


def add_post(session: Session, post: Post, told: Told) -> None:
    """Raises Refused."""
    known = session.run("select 1 from senders where job = ? and sender = ?", (post.job, post.sender))
    if not known and _count(session, "senders", post.job) >= MOST_SENDERS:
        raise Refused(409, "nodes", f"the job has {MOST_SENDERS:,} nodes already: no more are taken")
    session.run(
        "insert into posts (job, sender, at, step, behind, open_s, body) values (?, ?, ?, ?, ?, ?, ?)",
        (
            post.job, post.sender, post.at, told.high_step, told.behind, told.open_s,
            zlib.compress(post.body, 1),
        ),
    )  # fmt: skip
    session.run(
        f"insert into senders (job, sender, at, {', '.join(_TOLD)}) values (?, ?, ?{', ?' * len(_TOLD)})"
        " on conflict (job, sender) do update set at = excluded.at, "
        + ", ".join(f"{name} = excluded.{name}" for name in _TOLD),
        (post.job, post.sender, post.at, *(getattr(told, name) for name in _TOLD)),
    )


def add_words(session: Session, job: str, words: Sequence[Word], most: int) -> None:
    """Those beyond the bound are left out: what refers to them is told by its id."""
    if not words:
        return
    room = most - _count(session, "words", job)
    for word in words:
        if room <= 0 and not session.run(
            "select 1 from words where job = ? and kind = ? and id = ?", (job, word.kind, word.id)
        ):
            continue
        session.run(
            "insert into words (job, kind, id, body) values (?, ?, ?, ?)"
            " on conflict (job, kind, id) do update set body = excluded.body",
            (job, word.kind, word.id, word.body),
        )
        room -= 1


def add_finding(session: Session, job: str, found: FindingRow, most: int) -> bool:
    """One of a known name replaces what was told before. False: there are as many as may be."""
    known = session.run("select 1 from findings where job = ? and name = ?", (job, found.name))
    if not known and _count(session, "findings", job) >= most:
        return False
    session.run(
        "insert into findings (job, name, at, kind, body) values (?, ?, ?, ?, ?)"
        " on conflict (job, name) do update set kind = excluded.kind, body = excluded.body",
        (job, found.name, found.at, found.kind, found.body),
    )
    return True


def add_case(session: Session, case: CaseRow, archive: bytes, most: int) -> None:
    """Raises Refused."""
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
    session.run("insert into meta (name, value) values ('secret', ?) on conflict (name) do nothing", (fresh,))
    return str(session.run("select value from meta where name = 'secret'")[0][0])


def _count(session: Session, table: str, job: str) -> int:
    return int(session.run(f"select count(*) from {table} where job = ?", (job,))[0][0] or 0)
