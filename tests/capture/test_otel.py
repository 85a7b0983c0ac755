"""Findings as events of OpenTelemetry, as a collector gets them."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from rankandfile.cli.errors import UserError
from rankandfile.cli.watching import events_to
from rankandfile.model.digest import Finding

FOUND = Finding(
    id="1f",
    kind="desync",
    certainty="certain",
    words="ranks disagree: call 5",
    since=1e9,
    time=1e9 + 2,
    ranks="1",
    sequence=5,
)


def test_a_collector_gets_each_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its address alone, or as OpenTelemetry's own variables say."""
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    got: list[tuple[str, ExportLogsServiceRequest]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, ExportLogsServiceRequest.FromString(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        for to in (address, "env"):
            events = events_to(to)
            assert events is not None
            events.emit(FOUND)
            events.finish()
        server.shutdown()
    assert [path for path, _ in got] == ["/v1/logs"] * 2
    for _, request in got:
        (resource,) = request.resource_logs
        assert ("service.name", "rankandfile") in [
            (one.key, one.value.string_value) for one in resource.resource.attributes
        ]
        (record,) = resource.scope_logs[0].log_records
        assert (record.event_name, record.severity_text) == ("rankandfile.finding", "ERROR")
        assert record.body.string_value == FOUND.words and record.time_unix_nano == int((1e9 + 2) * 1e9)
        told = {one.key: one.value for one in record.attributes}
        assert (
            told["raf.finding.kind"].string_value == "desync" and told["raf.finding.sequence"].int_value == 5
        )
        assert "raf.finding.group" not in told


def test_nobody_takes_them(capsys: pytest.CaptureFixture[str]) -> None:
    """That is said once, and nothing waits for it long."""
    pytest.importorskip("opentelemetry.sdk")
    events = events_to("http://127.0.0.1:9")
    assert events is not None
    for _ in range(3):
        events.emit(FOUND)
    events.finish()
    assert capsys.readouterr().err.count("no event reached OpenTelemetry") == 1


def test_an_address_of_another_kind() -> None:
    with pytest.raises(UserError, match="begins with http"):
        events_to("localhost:4317")
