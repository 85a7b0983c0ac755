"""What the tower tells Prometheus. How many series there are is bounded, however many jobs, ranks and strangers come:
ranks are never labels, jobs are those heard of last, and words that clients choose are counted as `other`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from rankandfile.tower.store.rows import JobRow

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
OTHER = "other"
# When a series began is a series more for each.
disable_created_metrics()  # type: ignore[no-untyped-call]

_JOB = {
    "raf_job_silent_seconds": "Time since the job was last heard of",
    "raf_job_ranks": "Ranks that the newest digests tell of",
    "raf_job_ranks_gone": "Ranks whose process has ended",
    "raf_job_step": "The furthest step of the job's ranks",
    "raf_job_behind_collectives": "Collectives that the last rank is behind the first, in the worst group",
    "raf_job_oldest_call_seconds": "Age of the oldest call that has not ended",
    "raf_job_findings": "Findings of the job",
    "raf_job_cases": "Cases of the job",
}


@dataclass(frozen=True, kw_only=True)
class Known:
    """What the store says at the moment of a scrape."""

    now: float
    jobs: Sequence[JobRow]
    all_jobs: int
    findings: Mapping[str, int]
    store_bytes: int


class Numbers:
    """What one tower counts itself."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.taken = Counter(
            "raf_tower_taken", "What was kept, by what it was", ["what"], registry=self.registry
        )
        self.bytes = Counter(
            "raf_tower_received_bytes", "Bytes of bodies that were kept", registry=self.registry
        )
        self.refused = Counter(
            "raf_tower_refused", "Requests that were refused, by why", ["why"], registry=self.registry
        )
        self.seconds = Histogram(
            "raf_tower_answer_seconds",
            "How long answers took, by route",
            ["route"],
            buckets=(0.005, 0.02, 0.1, 0.5, 2.0, 10.0),
            registry=self.registry,
        )
        self.listeners = Gauge("raf_tower_listeners", "Open streams of events", registry=self.registry)

    def told(self, known: Known, kinds: Iterable[str]) -> bytes:
        """The page of /metrics. `kinds`: of findings, those that have a name of their own."""
        now = CollectorRegistry()
        now.register(_OfStore(known, frozenset(kinds)))
        return generate_latest(self.registry) + generate_latest(now)


class _OfStore(Collector):
    def __init__(self, known: Known, kinds: frozenset[str]) -> None:
        self._known, self._kinds = known, kinds

    def collect(self) -> Iterable[Metric]:
        known = self._known
        yield GaugeMetricFamily("raf_tower_jobs", "Jobs that are kept", value=known.all_jobs)
        yield GaugeMetricFamily("raf_tower_store_bytes", "What is kept takes", value=known.store_bytes)
        kinds: dict[str, int] = {}
        for kind, count in known.findings.items():
            word = kind if kind in self._kinds else OTHER
            kinds[word] = kinds.get(word, 0) + count
        findings = GaugeMetricFamily("raf_tower_findings", "Findings that are kept", labels=["kind"])
        for word, count in sorted(kinds.items()):
            findings.add_metric([word], count)
        yield findings
        for name, told in _JOB.items():
            family = GaugeMetricFamily(name, told, labels=["job"])
            for row in known.jobs:
                value = _values(row, known.now)[name]
                if value is not None:
                    family.add_metric([row.job], value)
            yield family


def _values(row: JobRow, now: float) -> dict[str, float | None]:
    return {
        "raf_job_silent_seconds": max(0.0, now - row.last_at),
        "raf_job_ranks": row.told.ranks,
        "raf_job_ranks_gone": row.told.gone,
        "raf_job_step": row.told.high_step,
        "raf_job_behind_collectives": row.told.behind,
        "raf_job_oldest_call_seconds": row.told.open_s,
        "raf_job_findings": row.findings,
        "raf_job_cases": row.cases,
    }
