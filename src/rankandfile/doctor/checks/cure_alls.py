"""Settings for an experiment that are left on as a cure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.model.settings import Finding, Severity

ORDER = 100


class Cure(NamedTuple):
    name: str
    harmful: Callable[[str], bool]
    says: str
    severity: Severity = "harmful"


def _on(value: str) -> bool:
    return value.strip().lower() in ("1", "true", "yes", "y", "t")


def _at_least_22(value: str) -> bool:
    return bool(re.fullmatch(r"\d{1,6}", value.strip())) and int(value) >= 22


CURES = (
    Cure(
        "CUDA_LAUNCH_BLOCKING",
        _on,
        "makes every kernel launch wait: it changes the order in which ranks come to their calls, and may make a "
        "deadlock or hide one",
    ),
    Cure("NCCL_P2P_DISABLE", _on, "takes the slow path between GPUs: a comparison for one run, not a cure"),
    Cure("NCCL_IB_DISABLE", _on, "takes the slow path between nodes: a comparison for one run, not a cure"),
    Cure(
        "NCCL_IB_TIMEOUT",
        _at_least_22,
        "lets an InfiniBand error surface minutes later, and cures nothing",
        "useless",
    ),
    Cure(
        "TORCH_DISTRIBUTED_DEBUG",
        lambda value: value.strip().upper() == "DETAIL",
        "checks every call with its peers first: about ten times slower, and it synchronises ranks that would "
        "otherwise differ. For a reproduction, not for production",
    ),
    Cure(
        "TORCH_NCCL_ENABLE_TIMING",
        _on,
        "adds an event to every call; torch's own header warns that it makes a stuck watchdog likelier",
    ),
    Cure(
        "TORCH_NCCL_DESYNC_DEBUG",
        _on,
        "turns timing on, and its numbers are not sequence numbers; the flight recorder tells more",
        "useless",
    ),
)


def check(setup: JobSetup) -> Iterator[Finding]:
    for cure in CURES:
        setting = setup.effective.get(cure.name)
        if setting is not None and cure.harmful(setting.value or ""):
            yield setup.finding(
                cure.severity,
                f"{cure.name}={setting.value} {cure.says}",
                at=setting,
                exports={cure.name: None},
                costs="nothing",
            )
