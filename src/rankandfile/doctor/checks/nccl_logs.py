"""What NCCL itself says, and where it goes."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.model.settings import Finding

ORDER = 120


def check(setup: JobSetup) -> Iterator[Finding]:
    level = setup.effective.get("NCCL_DEBUG")
    file = setup.effective.get("NCCL_DEBUG_FILE")
    if level is None:
        says = "NCCL is silent: its warnings (a dead link, a peer gone) are not printed"
        yield setup.finding(
            "missing", says, variable="NCCL_DEBUG", exports={"NCCL_DEBUG": "WARN"}, costs="nothing"
        )
    if file is not None and level is None:
        says = "NCCL_DEBUG_FILE stays empty without NCCL_DEBUG"
        yield setup.finding("useless", says, at=file, exports={"NCCL_DEBUG": "WARN"}, costs="nothing")
    if file is not None and "%p" not in (file.value or ""):
        says = "NCCL_DEBUG_FILE without %p: the processes of a host overwrite each other's file"
        fixed = f"{file.value}.%h.%p"
        yield setup.finding("harmful", says, at=file, exports={"NCCL_DEBUG_FILE": fixed}, costs="nothing")
    yield from _subsystems(setup)
    ras = setup.effective.get("NCCL_RAS_ENABLE")
    if ras is not None and (ras.value or "").strip() == "0":
        says = "NCCL_RAS_ENABLE=0 takes away NCCL's own view of which ranks are behind (NCCL 2.24 and later)"
        yield setup.finding("harmful", says, at=ras, exports={"NCCL_RAS_ENABLE": None})


def _subsystems(setup: JobSetup) -> Iterator[Finding]:
    chosen = setup.effective.get("NCCL_DEBUG_SUBSYS")
    if chosen is None:
        return
    names = {name.strip().upper() for name in (chosen.value or "").split(",")}
    if names & {"COLL", "ALL"} and (setup.given("NCCL_DEBUG") or "").upper() in ("INFO", "TRACE"):
        says = (
            f"NCCL_DEBUG_SUBSYS={chosen.value} logs every collective: for a reproduction, not for production"
        )
        exports: dict[str, str | None] = {"NCCL_DEBUG_SUBSYS": "INIT,NET"}
        yield setup.finding("harmful", says, at=chosen, exports=exports, costs="nothing")
