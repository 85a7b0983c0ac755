"""Findings as events of OpenTelemetry: log records with a name, over OTLP/HTTP. Needs the extra `otel`."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource

from rankandfile.model.digest import Finding

EVENT = "rankandfile.finding"
#: In place of an address: where the variables of OpenTelemetry say.
BY_ENVIRONMENT = "env"
#: How long one delivery may take; the end waits for what is on its way.
ANSWER_S = 5.0
_LOGGER = logging.getLogger("opentelemetry")
_SEVERE = ("desync", "order", "missing", "frozen")


class Events:
    """Sends in a thread of its own; nobody waits for it but the end."""

    def __init__(self, to: str, say: Callable[[str], None]) -> None:
        self._said = _Once(say)
        _LOGGER.addHandler(self._said)
        _LOGGER.propagate = False
        endpoint = None if to == BY_ENVIRONMENT else to if "/v1/" in to else f"{to.rstrip('/')}/v1/logs"
        resource = Resource.create({"service.name": "rankandfile", "host.name": os.uname().nodename})
        self._provider = LoggerProvider(resource, shutdown_on_exit=False)
        exporter = OTLPLogExporter(endpoint, timeout=ANSWER_S)
        self._provider.add_log_record_processor(BatchLogRecordProcessor(exporter, schedule_delay_millis=500))
        self._logger = self._provider.get_logger("rankandfile")

    def emit(self, finding: Finding) -> None:
        told: dict[str, str | float | None] = {
            "id": finding.id, "kind": finding.kind, "certainty": finding.certainty, "ranks": finding.ranks,
            "group": finding.group, "action": finding.action, "case": finding.case, "since": finding.since,
            "over": finding.over, "sequence": finding.sequence,
        }  # fmt: skip
        level = "INFO" if finding.over else "ERROR" if finding.kind in _SEVERE else "WARN"
        self._logger.emit(
            LogRecord(
                timestamp=int(finding.time * 1e9),
                severity_text=level,
                severity_number=SeverityNumber[level],
                body=finding.words,
                attributes={
                    f"raf.finding.{name}": value for name, value in told.items() if value not in ("", None)
                },
                event_name=EVENT,
            )
        )

    def finish(self) -> None:
        self._provider.force_flush(int(ANSWER_S * 1000))
        self._provider.shutdown()
        _LOGGER.removeHandler(self._said)


class _Once(logging.Handler):
    """The first thing that goes wrong is said, and no other."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._say, self._said = say, False

    def emit(self, record: logging.LogRecord) -> None:
        if not self._said:
            self._said = True
            self._say(f"no event reached OpenTelemetry: {record.getMessage()[:300]}")
