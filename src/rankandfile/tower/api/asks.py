"""What programs and pages ask."""

from __future__ import annotations

import asyncio
import time
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from rankandfile import __version__
from rankandfile.model.digest import Finding
from rankandfile.model.ranks import parse_ranks
from rankandfile.tower.api.looking import arrivals_at, job_at, look_at
from rankandfile.tower.errors import Refused, missing
from rankandfile.tower.reader import DOCUMENT, PAGE
from rankandfile.tower.store import reads
from rankandfile.tower.store.engine import Session
from rankandfile.tower.store.rows import CaseRow, JobRow
from rankandfile.tower.tower import Tower
from rankandfile.tower.view import documents as told
from rankandfile.tower.view.job import line, ranks_now
from rankandfile.tower.web.answers import HEADERS, json
from rankandfile.tower.web.events import Events

MOST_JOBS, MOST_POINTS, MOST_RANKS, MOST_FINDINGS = 500, 1000, 4096, 200
_LATEST = 1.7e10
_D = TypeVar("_D", float, None)


async def health(tower: Tower, _: Request) -> Response:
    """Whether the tower and its store answer. Raises Refused."""
    await tower.store.read(lambda session: session.run("select 1"))
    return json(told.Health(ok=True, version=__version__))


async def jobs(tower: Tower, request: Request) -> Response:
    limit, offset = _whole(request, "limit", 100, 1, MOST_JOBS), _whole(request, "offset", 0, 0, 1 << 31)
    return json(await listed(tower, request.query_params.get("q", "")[:200], limit, offset))


async def listed(tower: Tower, like: str, limit: int, offset: int) -> told.Jobs:
    like = like.replace("\0", "")
    rows = await tower.store.read(lambda session: reads.jobs(session, like, limit + 1, offset))
    now = time.time()
    return told.Jobs(jobs=[line(row, now) for row in rows[:limit]], more=len(rows) > limit)


async def job(tower: Tower, request: Request) -> Response:
    return json(await job_at(tower, request.path_params["job"], _at(request)))


async def ranks(tower: Tower, request: Request) -> Response:
    words = request.query_params.get("ranks")
    try:
        wanted = None if words is None else frozenset(parse_ranks(words[:1000]))
    except ValueError as error:
        raise Refused(422, "ranks", str(error)) from None
    look = await look_at(tower, request.path_params["job"], _at(request))
    return json(await asyncio.to_thread(ranks_now, look, wanted, MOST_RANKS))


async def groups(tower: Tower, request: Request) -> Response:
    return json((await job_at(tower, request.path_params["job"], _at(request))).groups)


async def arrivals(tower: Tower, request: Request) -> Response:
    name = request.path_params["job"]
    await known(tower, name)
    return json(await arrivals_at(tower, name, _at(request)))


async def findings(tower: Tower, request: Request) -> Response:
    name = request.path_params["job"]
    await known(tower, name)
    rows = await tower.store.read(lambda session: reads.findings(session, name, MOST_FINDINGS))
    lines = [told.FindingLine(at=row.at, finding=msgspec.json.decode(row.body, type=Finding)) for row in rows]
    return json(told.Findings(findings=lines))


async def history(tower: Tower, request: Request) -> Response:
    name = request.path_params["job"]
    await known(tower, name)
    points = _whole(request, "points", 300, 1, MOST_POINTS)
    span = await tower.store.read(lambda session: reads.span(session, name))
    if span is None:
        return json(told.History(first_at=None, last_at=None, moments=[]))
    since, until = _number(request, "since", span[0]), _number(request, "until", span[1])
    rows = await tower.store.read(
        lambda session: reads.history(session, name, since, max(since, until), points)
    )
    moments = [told.Moment(at=row.at, step=row.step, behind=row.behind, open_s=row.open_s) for row in rows]
    return json(told.History(first_at=span[0], last_at=span[1], moments=moments))


async def cases(tower: Tower, request: Request) -> Response:
    name = request.path_params["job"]
    await known(tower, name)
    rows = await tower.store.read(lambda session: reads.cases(session, name))
    return json(told.Cases(cases=[case_line(row) for row in rows]))


async def case_diagnosis(tower: Tower, request: Request) -> Response:
    body = await _of_case(tower, request, DOCUMENT)
    return Response(body, 200, {**HEADERS, "Cache-Control": "no-store"}, "application/json")


async def case_page(tower: Tower, request: Request) -> Response:
    """The page of `raf report`. It may run its own script, but is nobody here: no cookie, no storage, no address."""
    body = await _of_case(tower, request, PAGE)
    policy = (
        "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';"
        " img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = {**HEADERS, "Content-Security-Policy": policy, "Cache-Control": "no-store"}
    return Response(body, 200, headers, "text/html")


async def case_archive(tower: Tower, request: Request) -> Response:
    """What was sent, for `raf diagnose` at home."""
    case, body = await _case_and(tower, request, "archive")
    headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{case.name}"'}
    return Response(body, 200, headers, "application/octet-stream")


async def events(tower: Tower, request: Request) -> Response:
    visitor, name = request.state.visitor, request.query_params.get("job")
    if visitor.job is not None and visitor.job != name:
        raise Refused(403, "shared", "this link shows one job, and only that")
    return Events(tower.pulse.join(name), tower.pulse.leave)


async def share(tower: Tower, request: Request) -> Response:
    name = request.path_params["job"]
    hours = _whole(request, "hours", 72, 1, 24 * 90)
    await known(tower, name)
    until = int(time.time()) + hours * 3600
    return json(told.Share(path=f"/share/{tower.door.share(name, until)}", until=until), 201)


async def known(tower: Tower, name: str) -> JobRow:
    """Raises Refused."""
    row = await tower.store.read(lambda session: reads.job(session, name))
    if row is None:
        raise missing("job")
    return row


async def _of_case(tower: Tower, request: Request, what: str) -> bytes:
    return (await _case_and(tower, request, what))[1]


async def _case_and(tower: Tower, request: Request, what: str) -> tuple[CaseRow, bytes]:
    name, one = request.path_params["job"], request.path_params["case"]

    def look(session: Session) -> tuple[CaseRow, bytes] | None:
        row = reads.case(session, one)
        body = reads.file(session, one, what) if row is not None and row.job == name else None
        return None if row is None or body is None else (row, body)

    found = await tower.store.read(look)
    if found is None:
        raise missing("case, or it was not read yet")
    return found


def case_line(row: CaseRow) -> told.CaseLine:
    return msgspec.convert(
        {"id": row.id, "at": row.at, "name": row.name, "state": row.state, "told": row.told},
        told.CaseLine,
    )


def _at(request: Request) -> float | None:
    return _number(request, "at", None)


def _number(request: Request, name: str, default: _D) -> float | _D:
    word = request.query_params.get(name)
    if word is None:
        return default
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not 0 <= number <= _LATEST:
        raise Refused(422, name, f"{name} is a time in seconds since 1970")
    return number


def _whole(request: Request, name: str, default: int, low: int, high: int) -> int:
    word = request.query_params.get(name, str(default))
    if not (word.isascii() and word.isdigit() and len(word) < 12 and low <= int(word) <= high):
        raise Refused(422, name, f"{name} is a number from {low} to {high}")
    return int(word)
