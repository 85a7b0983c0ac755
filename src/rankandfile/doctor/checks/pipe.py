"""Can a running job be asked for a dump, before any watchdog fires?"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.doctor.paths import job_id
from rankandfile.doctor.table import PIPE, RING
from rankandfile.model.settings import Finding
from rankandfile.recorder_names import OLD_RING, RING_MAKES_PIPE

ORDER = 130


def check(setup: JobSetup) -> Iterator[Finding]:
    if not setup.has_recorder:
        return
    setting = setup.setting(PIPE)
    if setting is None or not setting.value:
        says = f"a running job cannot be asked for a dump: {PIPE.name} is not set"
        exports: dict[str, str | None] = {PIPE.name: f"/tmp/fr_{job_id(setup)}_rank_"}
        yield setup.finding("missing", says, variable=PIPE.name, exports=exports, costs="nothing")
        return
    old_torch = setup.release is not None and setup.release < RING_MAKES_PIPE
    if old_torch and OLD_RING not in setup.effective:
        says = f"{PIPE.name} makes no pipe in {setup.torch} unless {OLD_RING} is set, by that name"
        size = setup.number(RING) or 2000
        yield setup.finding("useless", says, at=setting, exports={OLD_RING: str(size)}, costs="nothing")
    else:
        says = "a write to <prefix><rank>.pipe dumps a running job"
        yield setup.finding("ok", says, at=setting)
