"""What watchers send: reports, findings, cases. An answer of 2xx says that it is on the disk."""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from rankandfile.model import digest
from rankandfile.model.digest import Finding, Report
from rankandfile.tower.errors import Refused
from rankandfile.tower.store import writes
from rankandfile.tower.store.engine import Session
from rankandfile.tower.store.rows import CaseRow, FindingRow, Post, Told, Word
from rankandfile.tower.tower import Tower
from rankandfile.tower.view import kept
from rankandfile.tower.view.documents import CaseLine, Taken
from rankandfile.tower.web.answers import json
from rankandfile.tower.web.body import body_of

_T = TypeVar("_T")
#: Groups and paths that are kept of a job.
_MOST_WORDS = 8_000
#: Beyond, it is taken apart beside the loop that answers everybody else.
_LARGE = 64 << 10


class _Came(msgspec.Struct, frozen=True, kw_only=True):
    report: Report
    body: bytes
    told: Told
    words: list[Word]


async def report(tower: Tower, request: Request) -> Response:
    """A report says itself of which job it is."""
    return json(await take_report(tower, await body_of(request, tower.settings.post_bytes)))


async def take_report(tower: Tower, body: bytes) -> Taken:
    """However it came. Raises Refused."""
    came = await _came(body)
    return await _take(tower, kept.key_of(came.report.job.id), came)


async def digests(tower: Tower, request: Request) -> Response:
    """The same, where the address names the job."""
    came, job = await _came(await body_of(request, tower.settings.post_bytes)), request.path_params["job"]
    if kept.key_of(came.report.job.id) != job:
        raise Refused(422, "job", "the report is of another job")
    return json(await _take(tower, job, came))


async def findings(tower: Tower, request: Request) -> Response:
    body = await body_of(request, tower.settings.post_bytes)
    try:
        found = msgspec.json.decode(body, type=list[Finding])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(422, "findings", f"no list of findings: {error}") from None
    job, now = request.path_params["job"], time.time()
    wrong = kept.sound(Report(job=digest.Job(id=job), node="", time=now, findings=tuple(found)))
    if wrong is not None:
        raise Refused(422, "findings", wrong)

    def change(session: Session) -> int:
        writes.heard_of(session, job, "", now, tower.settings.most_jobs)
        return _add_findings(session, job, tuple(found), now, tower.settings.most_findings)

    taken = await tower.store.write(change)
    tower.numbers.taken.labels("finding").inc(taken)
    tower.pulse.tell(job, "finding")
    return json(Taken(job=job, digests=0, findings=taken))


async def case(tower: Tower, request: Request) -> Response:
    """An archive, as `raf case pack` or any other makes it. It is read later, in a process of its own."""
    archive = await body_of(request, tower.settings.case_bytes)
    name = request.query_params.get("name", "")
    return json(await take_case(tower, request.path_params["job"], name, archive), 201)


async def take_case(tower: Tower, job: str, name: str, archive: bytes) -> CaseLine:
    """However it came. Raises Refused."""
    if not archive:
        raise Refused(422, "empty", "the archive is empty")
    now = time.time()
    row = CaseRow(
        id=secrets.token_hex(16), job=job, at=now, name=_file_name(name), state="waiting", told="",
    )  # fmt: skip

    def change(session: Session) -> None:
        writes.heard_of(session, job, "", now, tower.settings.most_jobs)
        writes.add_case(session, row, archive, tower.settings.most_cases)

    await tower.store.write(change)
    tower.numbers.taken.labels("case").inc()
    tower.numbers.bytes.inc(len(archive))
    tower.pulse.tell(job, "case")
    tower.reader.wake()
    return CaseLine(id=row.id, at=now, name=row.name, state="waiting", told="")


async def _came(body: bytes) -> _Came:
    return _understood(body) if len(body) <= _LARGE else await asyncio.to_thread(_understood, body)


def _understood(body: bytes) -> _Came:
    try:
        found = digest.read(body)
    except ValueError as error:
        raise Refused(422, "report", str(error)) from None
    wrong = kept.sound(found)
    if wrong is not None:
        raise Refused(422, "report", wrong)
    words = [Word(kind="group", id=_text(one.id), body=msgspec.json.encode(one)) for one in found.groups]
    words += [Word(kind="path", id=str(one.id), body=msgspec.json.encode(one.frames)) for one in found.paths]
    return _Came(report=found, body=kept.kept(found), told=kept.told(found), words=words)


async def _take(tower: Tower, job: str, came: _Came) -> Taken:
    found, now = came.report, time.time()
    title = _text(found.job.name)[:200]
    post = Post(job=job, sender=_text(found.node), at=now, body=came.body)

    def change(session: Session) -> int:
        writes.heard_of(session, job, title, now, tower.settings.most_jobs)
        writes.add_post(session, post, came.told)
        writes.add_words(session, job, came.words, _MOST_WORDS)
        return _add_findings(session, job, found.findings, now, tower.settings.most_findings)

    taken = await tower.store.write(change)
    tower.numbers.taken.labels("digest").inc(len(found.digests))
    tower.numbers.taken.labels("finding").inc(taken)
    tower.numbers.bytes.inc(len(came.body))
    return Taken(job=job, digests=len(found.digests), findings=taken)


def _add_findings(session: Session, job: str, found: tuple[Finding, ...], now: float, most: int) -> int:
    rows = [
        FindingRow(name=_text(one.id), at=now, kind=one.kind, body=msgspec.json.encode(one)) for one in found
    ]
    return sum(writes.add_finding(session, job, row, most) for row in rows)


def _text(words: str) -> str:
    """As any database takes it."""
    return words.replace("\0", "\ufffd")


def _file_name(name: str) -> str:
    """A name that leads nowhere else; its ending tells readers what it may be."""
    letters = re.sub(r"[^A-Za-z0-9._-]+", "-", name.rpartition("/")[2]).lstrip(".-")[-100:]
    return letters or "case.zip"
