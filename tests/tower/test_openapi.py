"""The description of the API is true: any request that it allows gets an answer that it tells of."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from starlette.testclient import TestClient
from support.tower.fleet import Ranks, desync
from support.tower.towers import tell, tower

schemathesis = pytest.importorskip("schemathesis")
checks = pytest.importorskip("schemathesis.specs.openapi.checks")
_CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with tower(tmp_path_factory.mktemp("tower") / "tower.db") as found:
        now = time.time()
        tell(found, Ranks("j", nodes=2).report(0, now, (desync("j", now, now),)))
        yield found


def test_every_route_that_is_served_is_described(client: TestClient) -> None:
    from rankandfile.tower import routes

    paths = client.get("/openapi.json").json()["paths"]
    described = {(path, method.upper()) for path, of in paths.items() for method in of}
    assert described == {(one.path, one.method) for one in routes.ROUTES if one.is_api}


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/jobs",
        *(
            f"/api/v1/jobs/j{end}"
            for end in ("", "/ranks", "/groups", "/arrivals", "/findings", "/history", "/cases")
        ),
    ],
)
def test_answers_are_what_their_schemas_say(client: TestClient, path: str) -> None:
    document = client.get("/openapi.json").json()
    described = (
        path.replace("/j/", "/{job}/") if path.count("/") > 4 else path.replace("/jobs/j", "/jobs/{job}")
    )
    schema = document["paths"][described]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    answer = client.get(path)
    jsonschema.validate(answer.json(), {**schema, "components": document["components"]})
    assert json.dumps(answer.json())


@pytest.mark.lab
@pytest.mark.filterwarnings("ignore")
def test_any_request_gets_an_answer_that_is_described(client: TestClient) -> None:
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
    asked = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == "/events":
            continue  # a stream does not end
        for mode in (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE):

            @settings(max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck))
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: Any) -> None:
                nonlocal asked
                asked += 1
                if "job" in case.path_parameters:
                    case.path_parameters["job"] = "j"
                case.call_and_validate(checks=_CHECKS)

            # Of an address without parameters there is no broken request.
            with suppress(Unsatisfiable):
                ask()
    assert asked > 100
