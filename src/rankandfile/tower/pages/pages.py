"""The pages: the list of jobs, a job, and the door. What a page begins with is in it, and is drawn without asking."""

from __future__ import annotations

import time
from functools import cache
from importlib import resources
from urllib.parse import parse_qs, quote

import jinja2
import msgspec
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from rankandfile import __version__
from rankandfile.model.digest import Finding
from rankandfile.render.report import static as of_report
from rankandfile.render.report.words import visible
from rankandfile.tower.api.asks import MOST_FINDINGS, case_line, listed
from rankandfile.tower.api.looking import job_at
from rankandfile.tower.door import SHARED, SIGNED_IN, SIGNED_IN_S
from rankandfile.tower.errors import Refused
from rankandfile.tower.store import reads
from rankandfile.tower.tower import Tower
from rankandfile.tower.view import documents as told
from rankandfile.tower.web.answers import HEADERS, html
from rankandfile.tower.web.body import body_of

#: The parts of each page's script, in their order; the first two are those of a report's page.
_SHARED = ("basics", "theme")
_SCRIPTS = {
    "jobs": ("words", "live", "jobs", "keys"),
    "job": ("words", "live", "heat", "rank", "sections", "replay", "job", "keys"),
    "door": ("door",),
}
_LONGEST_FORM = 4096


class JobPage(msgspec.Struct, frozen=True, kw_only=True):
    """What a job's page begins with."""

    now: told.JobNow
    findings: told.Findings
    cases: told.Cases
    may_share: bool


async def jobs(tower: Tower, request: Request) -> Response:
    found = await listed(tower, request.query_params.get("q", "")[:200], 100, 0)
    return _page("jobs.html.j2", "jobs", found, title="Jobs")


async def job(tower: Tower, request: Request) -> Response:
    name = request.path_params["job"]
    now = await job_at(tower, name, None)
    rows = await tower.store.read(lambda session: reads.findings(session, name, MOST_FINDINGS))
    cases = await tower.store.read(lambda session: reads.cases(session, name))
    lines = [told.FindingLine(at=row.at, finding=msgspec.json.decode(row.body, type=Finding)) for row in rows]
    page = JobPage(
        now=now,
        findings=told.Findings(findings=lines),
        cases=told.Cases(cases=[case_line(row) for row in cases]),
        may_share=request.state.visitor.job is None,
    )
    return _page("job.html.j2", "job", page, title=now.title or name, shared=not page.may_share)


async def login(_: Tower, request: Request) -> Response:
    return _page(
        "login.html.j2", "door", None, title="Sign in", to=_own(request.query_params.get("to")), wrong=False
    )


async def sign_in(tower: Tower, request: Request) -> Response:
    form = parse_qs((await body_of(request, _LONGEST_FORM)).decode("utf-8", "replace"))
    to = _own(form.get("to", ["/"])[0])
    cookie = tower.door.sign_in(form.get("token", [""])[0].strip())
    if cookie is None:
        return _page("login.html.j2", "door", None, 401, title="Sign in", to=to, wrong=True)
    answer = RedirectResponse(to, 303, HEADERS)
    answer.set_cookie(
        SIGNED_IN, cookie, SIGNED_IN_S, httponly=True, samesite="strict", secure=_is_https(request)
    )
    return answer


async def sign_out(_: Tower, __: Request) -> Response:
    answer = RedirectResponse("/login", 303, HEADERS)
    for name in (SIGNED_IN, SHARED):
        answer.delete_cookie(name)
    return answer


async def share(tower: Tower, request: Request) -> Response:
    link = request.path_params["link"]
    shared = tower.door.shared_job(link)
    if shared is None:
        raise Refused(404, "missing", "this link has expired, or was never made")
    answer = RedirectResponse(f"/jobs/{shared}", 303, HEADERS)
    # Whoever follows a link from a chat comes from another site.
    answer.set_cookie(SHARED, link, SIGNED_IN_S, httponly=True, samesite="lax", secure=_is_https(request))
    return answer


def refused(request: Request, why: Refused) -> Response:
    if why.status == 401:
        to = quote(_own(request.url.path), safe="/")
        return RedirectResponse(f"/login?to={to}", 303, HEADERS)
    return _page("refused.html.j2", "door", None, why.status, title="Not here", told=why.told)


def _page(template: str, script: str, data: object, status: int = 200, **more: object) -> Response:
    css, code = _css(), _script(script)
    # In a script element, nothing but `<` could end it.
    text = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    page = _environment().get_template(template).render(
        css=Markup(css), script=Markup(code), data=Markup(text), version=__version__,
        now=time.time(), **{"shared": False, **more},
    )  # fmt: skip
    return html(page, (code,), (css,), status)


def _own(path: str | None) -> str:
    """A place of this tower, and of no other."""
    fine = path is not None and path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if fine and path is not None and path.isprintable() else "/"


def _is_https(request: Request) -> bool:
    """Also where a proxy before the tower speaks it: who forges that only keeps a cookie from being sent."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", ""))


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("rankandfile.tower.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=visible,
    )


@cache
def _css() -> str:
    return of_report("verdict.css") + of_report("report.css") + _static("tower.css")


@cache
def _script(name: str) -> str:
    """One script of many parts, with no name of its own outside."""
    parts = [of_report(f"script/{part}.js") for part in _SHARED]
    parts += [_static(f"{part}.js") for part in _SCRIPTS[name]]
    return f'"use strict";\n(() => {{\n{"".join(parts)}}})();\n'


def _static(name: str) -> str:
    return resources.files(__package__).joinpath("static").joinpath(name).read_text(encoding="utf-8")
