"""Everything that is served."""

from __future__ import annotations

import time
from typing import Any, get_args

from starlette.requests import Request
from starlette.responses import Response

from rankandfile import __version__
from rankandfile.model.digest import Finding, Kind, Report
from rankandfile.tower.api import asks, intake
from rankandfile.tower.errors import Refused
from rankandfile.tower.metrics import MEDIA, Known
from rankandfile.tower.pages import pages
from rankandfile.tower.store import reads
from rankandfile.tower.store.engine import Session
from rankandfile.tower.tower import Tower
from rankandfile.tower.view import documents as told
from rankandfile.tower.web.answers import HEADERS, json, problem
from rankandfile.tower.web.openapi import openapi
from rankandfile.tower.web.route import Query, Route

_JOB = "/api/v1/jobs/{job}"
_TIME = {"type": "number", "minimum": 0, "maximum": 1.7e10}
_AT = Query(name="at", told="A moment of the history; without it, now.", schema=_TIME)


def _count(name: str, meaning: str, low: int, high: int) -> Query:
    return Query(name=name, told=meaning, schema={"type": "integer", "minimum": low, "maximum": high})


async def metrics(tower: Tower, _: Request) -> Response:
    engine, most = tower.store.engine, tower.settings.most_labels

    def look(session: Session) -> Known:
        return Known(
            now=time.time(), jobs=reads.jobs(session, "", most, 0), all_jobs=reads.job_count(session),
            findings=reads.counts(session), store_bytes=engine.size(session),
        )  # fmt: skip

    known = await tower.store.read(look)
    tower.numbers.listeners.set(len(tower.pulse))
    return Response(tower.numbers.told(known, get_args(Kind)), 200, HEADERS, MEDIA)


async def description(_: Tower, __: Request) -> Response:
    return json(document())


def document() -> dict[str, Any]:
    return openapi(ROUTES, __version__)


def refused(route: Route, request: Request, why: Refused) -> Response:
    """A program gets JSON; a person who must sign in gets the page for that."""
    if route.is_api:
        return problem(why)
    return pages.refused(request, why)


_WRITES = (408, 413, 415, 422, 507)

ROUTES = (
    Route(
        path="/v1/reports", method="POST", call=intake.report,
        told="Take in a report of a node, as JSON or MessagePack. It names its job itself.",
        takes=("application/json", Report), gives=told.Taken, refuses=(400, 409, *_WRITES),
    ),
    Route(
        path=f"{_JOB}/digests", method="POST", call=intake.digests,
        told="Take in a report of a node of this job, as JSON or MessagePack.",
        takes=("application/json", Report), gives=told.Taken, refuses=(400, 409, *_WRITES),
    ),
    Route(
        path=f"{_JOB}/findings", method="POST", call=intake.findings,
        told="Take in findings; one of a known id replaces what was told before.",
        takes=("application/json", list[Finding]), gives=told.Taken, refuses=(400, 409, *_WRITES),
    ),
    Route(
        path=f"{_JOB}/cases", method="POST", call=intake.case, status=201,
        told="Take in an archive of evidence. It is diagnosed afterwards.",
        query=(Query(name="name", told="Its file name.", schema={"type": "string", "maxLength": 100}),),
        takes=("application/octet-stream", None), gives=told.CaseLine, refuses=(400, 409, *_WRITES),
    ),
    Route(
        path=f"{_JOB}/share", method="POST", call=asks.share, status=201,
        told="Make a link by which this job can be read without a token.",
        query=(_count("hours", "For how long.", 1, 24 * 90),), gives=told.Share, refuses=(422,),
    ),
    Route(
        path="/api/v1/jobs", call=asks.jobs, told="Jobs, those heard of last first.", gives=told.Jobs,
        query=(
            Query(name="q", told="A part of the name or title.", schema={"type": "string"}),
            _count("limit", "So many.", 1, asks.MOST_JOBS), _count("offset", "After so many.", 0, 1 << 31),
        ),
        refuses=(422,),
    ),
    Route(
        path=_JOB, call=asks.job, query=(_AT,), gives=told.JobNow, refuses=(422,),
        told="A job: how it stands, its ranks as columns, its groups.",
    ),
    Route(
        path=f"{_JOB}/ranks", call=asks.ranks, gives=list[told.RankNow], refuses=(422,),
        told="Where ranks stand, in each of their groups.",
        query=(_AT, Query(name="ranks", told="Which: `0-6,8`.", schema={"type": "string", "pattern": r"^[0-9]{1,4}$"})),
    ),
    Route(
        path=f"{_JOB}/groups", call=asks.groups, query=(_AT,), gives=list[told.GroupLine], refuses=(422,),
        told="The process groups: how far, and who waits for whom.",
    ),
    Route(
        path=f"{_JOB}/arrivals", call=asks.arrivals, query=(_AT,), gives=told.Arrivals, refuses=(422,),
        told="Which ranks come last to collectives, time and again.",
    ),
    Route(
        path=f"{_JOB}/findings", call=asks.findings, gives=told.Findings,
        told="What watchers found, the newest first.",
    ),
    Route(
        path=f"{_JOB}/history", call=asks.history, gives=told.History, refuses=(422,),
        told="How far the job had come, over time.",
        query=(
            Query(name="since", told="From when.", schema=_TIME), Query(name="until", told="Until when.", schema=_TIME),
            _count("points", "At most so many moments.", 1, asks.MOST_POINTS),
        ),
    ),
    Route(path=f"{_JOB}/cases", call=asks.cases, gives=told.Cases, told="Cases of the job, the newest first."),
    Route(
        path=f"{_JOB}/cases/{{case}}/diagnosis", call=asks.case_diagnosis, gives=dict[str, Any],
        told="The diagnosis of a case, as `raf diagnose --format json` prints it.",
    ),
    Route(
        path=f"{_JOB}/cases/{{case}}/archive", call=asks.case_archive, media="application/octet-stream",
        told="The archive as it was sent.",
    ),
    Route(
        path="/events", call=asks.events, media="text/event-stream", refuses=(429,),
        told="Server-sent events: `digests`, `finding` and `case`, with the job that they are of.",
        query=(Query(name="job", told="Of one job alone.", schema={"type": "string"}),),
    ),
    Route(
        path="/healthz", call=asks.health, gives=told.Health, open=True,
        told="Whether the tower and its store answer.",
    ),
    Route(path="/metrics", call=metrics, media="text/plain", told="Numbers for Prometheus."),
    Route(path="/openapi.json", call=description, gives=dict[str, Any], told="This document.", open=True),
    Route(path="/", call=pages.jobs, told="The list of jobs.", is_api=False),
    Route(path="/jobs/{job}", call=pages.job, told="A job.", is_api=False),
    Route(path="/jobs/{job}/cases/{case}", call=asks.case_page, told="The page of a case.", is_api=False),
    Route(path="/login", call=pages.login, told="Sign in.", is_api=False, open=True),
    Route(path="/login", method="POST", call=pages.sign_in, told="Sign in.", is_api=False, open=True),
    Route(path="/logout", method="POST", call=pages.sign_out, told="Sign out.", is_api=False, open=True),
    Route(path="/share/{link}", call=pages.share, told="Open a share link.", is_api=False, open=True),
)  # fmt: skip
