"""`gpu_error`: a device failed."""

from __future__ import annotations

import pytest
from support.reason import absent_rank, machines
from support.reason.building import case_of
from support.reason.witnesses import Witnesses, best, blamed


def test_a_device_error_is_no_timeout() -> None:
    """All joined; the watchdog of rank 1 met an error of its own device."""
    witnesses = Witnesses(case_of(absent_rank.stalled()))
    error = "CUDA error: an illegal memory access was encountered"
    witnesses.event("watchdog_device_error", "origin", 1, error=error)
    verdict = best(witnesses)
    assert (verdict.cause, verdict.confidence, blamed(verdict)) == ("gpu_error", "supported", [1])
    witnesses.exit(1, "SIGABRT").event("xid", "origin", None, code=31, error="MMU Fault", xid_pid=1001)
    assert best(witnesses).confidence == "established"


def xid(witnesses: Witnesses, host: str | None, bus: str, **more: object) -> Witnesses:
    text = f"NVRM: Xid (PCI:{bus}): 79, GPU has fallen off the bus."
    return witnesses.event("xid", "origin", None, text, host=host, bus=bus, code=79, error="fell off", **more)


@pytest.mark.parametrize("bus", ["0000:9d:00", "9d:00.0", "0000:9D:00.0"])
def test_an_xid_without_a_process_is_of_the_rank_that_uses_the_device(bus: str) -> None:
    verdict = best(xid(machines.on_hosts(), "node2", bus))
    assert (verdict.cause, blamed(verdict)) == ("gpu_error", [2])
    assert "Xid 79" in (verdict.culprits[0].doing or "")


@pytest.mark.parametrize(
    ("host", "bus"),
    [
        (None, "0000:9d:00"),  # every host has such a device
        ("node2", "0000:3e:00"),  # no rank is known to use it
        ("node9", "0000:9d:00"),  # a host of another job
        ("node2", "rubbish"),
    ],
)
def test_an_xid_that_fits_no_rank_for_sure_accuses_none(host: str | None, bus: str) -> None:
    verdict = best(xid(machines.on_hosts(), host, bus))
    assert blamed(verdict) == []
    assert verdict.cause != "gpu_error"
