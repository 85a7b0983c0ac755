"""Timeouts of collectives: too long to wait for, too short to be legal, or not where they are thought to be."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.model.settings import Finding, Span

ORDER = 70
_LONG_S = 1800
"""The longest that torch itself ever had as a default."""
_SHORT_S = 60


def check(setup: JobSetup) -> Iterator[Finding]:
    spans = [span for span in setup.settings.spans if span.what != "grace"]
    for span in spans:
        if span.seconds is not None and span.seconds > _LONG_S:
            yield setup.finding("harmful", _long(span), _LONG_FIX, at=span.place)
        elif span.seconds is not None and 0 < span.seconds <= _SHORT_S:
            says = f"timeout of {span.seconds:g} s ({span.detail}): any slow first step counts as a hang"
            fix = "the longest wait that is legal, with room to spare"
            yield setup.finding("harmful", says, fix, at=span.place)
    if any(span.what != "new_group" and span.detail for span in spans):
        for span in spans:
            if span.what == "new_group" and not span.detail:
                says = "new_group without a timeout: it does not inherit the one given to init_process_group"
                fix = "new_group(..., timeout=...)"
                yield setup.finding("missing", says, fix, at=span.place, costs="nothing")


_LONG_FIX = (
    "the longest legal wait; long work of one rank belongs under a gloo group, with a timeout of its own"
)


def _long(span: Span) -> str:
    return (
        f"timeout of {_readable(span.seconds or 0)} ({span.detail}): right only for long single-rank work. Ranks that "
        "went different ways never meet again: the hang stands that long before anything is written"
    )


def _readable(seconds: float) -> str:
    return f"{seconds / 3600:g} h" if seconds >= 3600 and seconds % 360 == 0 else f"{seconds / 60:g} min"
