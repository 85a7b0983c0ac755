"""Can a running job be asked for a dump, before any watchdog fires?"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.paths import job_id
from rankandfile.doctor.subject import Subject
from rankandfile.doctor.table import PIPE, RING
from rankandfile.model.settings import Finding

ORDER = 130
_OLD_NAME = "TORCH_NCCL_TRACE_BUFFER_SIZE"


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.has_recorder:
        return
    setting = subject.setting(PIPE)
    if setting is None or not setting.value:
        says = f"a running job cannot be asked for a dump: {PIPE.name} is not set"
        exports: dict[str, str | None] = {PIPE.name: f"/tmp/fr_{job_id(subject)}_rank_"}
        yield subject.finding("missing", says, variable=PIPE.name, exports=exports, costs="nothing")
        return
    old_torch = subject.release is not None and subject.release <= (2, 9)
    if old_torch and _OLD_NAME not in subject.effective:
        says = f"{PIPE.name} makes no pipe in {subject.torch} unless {_OLD_NAME} is set, by that name"
        size = subject.number(RING) or 2000
        yield subject.finding("useless", says, at=setting, exports={_OLD_NAME: str(size)}, costs="nothing")
    else:
        says = "a write to <prefix><rank>.pipe dumps a running job"
        yield subject.finding("ok", says, at=setting)
