"""The dashboard for Grafana asks for what /metrics tells, and for nothing else.

Grafana publishes no schema of the JSON that it imports. The one here is our own: the parts that a dashboard cannot be
shown without. That Grafana itself takes the file is not tested.
"""

from __future__ import annotations

import json
import re
import time
from typing import Any

import jsonschema
import pytest
from support.places import EXAMPLES
from support.tower.fleet import Ranks, desync
from support.tower.towers import tell, tower

DASHBOARD: dict[str, Any] = json.loads(
    (EXAMPLES / "grafana" / "rankandfile.json").read_text(encoding="utf-8")
)
SOURCE = {"type": "object", "required": ["type", "uid"], "properties": {"type": {"const": "prometheus"}}}
SCHEMA = {
    "type": "object",
    "required": ["title", "uid", "schemaVersion", "panels", "templating", "time"],
    "properties": {
        "uid": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,40}$"},
        "schemaVersion": {"type": "integer", "minimum": 36},
        "panels": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "title", "type", "gridPos", "targets", "datasource", "fieldConfig"],
                "properties": {
                    "type": {"enum": ["stat", "timeseries", "table"]},
                    "datasource": SOURCE,
                    "gridPos": {"type": "object", "required": ["x", "y", "w", "h"]},
                    "targets": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"type": "object", "required": ["refId", "expr", "datasource"]},
                    },
                },
            },
        },
    },
}
_NAME = re.compile(r"\braf_[a-z_]+")
_LABELS = re.compile(r"(\braf_[a-z_]+)\{(.*?)\}")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Name of a series -> its labels."""
    now = time.time()
    with tower(tmp_path_factory.mktemp("tower") / "t.db") as client:
        tell(client, Ranks("j", began=now - 9, late={1: 0.3}).report(0, now, (desync("j", now, now),)))
        client.post("/v1/reports", content=b"x")
        found: dict[str, set[str]] = {}
        for line in client.get("/metrics").text.splitlines():
            if not line.startswith("#"):
                name, _, labels = line.rpartition(" ")[0].partition("{")
                found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
        return found


def queries() -> list[str]:
    asked = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return asked + [one["definition"] for one in DASHBOARD["templating"]["list"] if "definition" in one]


def test_it_is_a_dashboard_whose_panels_do_not_overlap() -> None:
    jsonschema.validate(DASHBOARD, SCHEMA)
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24


def test_its_queries_name_only_what_is_told(told: dict[str, set[str]]) -> None:
    for query in queries():
        for name in _NAME.findall(query):
            assert name in told, query
        for name, labels in _LABELS.findall(query):
            assert set(re.findall(r"(\w+)[=!]", labels)) <= told[name], query
        assert query.count("(") == query.count(")")


def test_its_legends_name_labels_that_are_there(told: dict[str, set[str]]) -> None:
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            (name, *_) = _NAME.findall(target["expr"])
            assert set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", ""))) <= told[name]
