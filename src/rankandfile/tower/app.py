"""The application: every route behind the door, every failure an answer."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as ServedRoute

from rankandfile.tower import routes
from rankandfile.tower.errors import Refused, missing
from rankandfile.tower.settings import Settings
from rankandfile.tower.store.engine import Engine
from rankandfile.tower.tower import Beside, Tower, opened
from rankandfile.tower.web.answers import problem
from rankandfile.tower.web.route import Route, well_named


def application(settings: Settings, engine: Callable[[], Engine], beside: Sequence[Beside] = ()) -> Starlette:
    """`engine` is opened with the application, and closed with it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with opened(settings, engine(), beside) as tower:
            app.state.tower = tower
            yield

    app = Starlette(
        routes=_served(routes.ROUTES),
        lifespan=lifespan,
        exception_handlers={HTTPException: _unknown, 500: _failed},
    )
    app.router.redirect_slashes = False
    return app


def _served(table: Sequence[Route]) -> list[ServedRoute]:
    return [ServedRoute(one.path, _guarded(one), methods=[one.method]) for one in table]


def _guarded(route: Route) -> Callable[[Request], object]:
    async def answer(request: Request) -> Response:
        tower: Tower = request.app.state.tower
        began = time.perf_counter()
        try:
            if not well_named(request.path_params):
                raise missing("job or case")
            request.state.visitor = None
            if not route.open:
                request.state.visitor = tower.door.enter(request, request.path_params.get("job"))
            given = await route.call(tower, request)
        except Refused as refused:
            tower.numbers.refused.labels(refused.word).inc()
            given = routes.refused(route, request, refused)
        tower.numbers.seconds.labels(route.path).observe(time.perf_counter() - began)
        return given

    return answer


async def _unknown(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    word, told = (
        ("method", "that cannot be done here") if status == 405 else ("missing", "there is no such page")
    )
    answer = problem(Refused(status, word, told))
    if isinstance(error, HTTPException) and error.headers:
        answer.headers.update(error.headers)
    return answer


async def _failed(_: Request, __: Exception) -> Response:
    """Starlette logs it; who asked learns nothing of the inside."""
    return problem(Refused(500, "failed", "the tower itself failed"))
