"""Does a timeout write the dumps, and does anything notice the timeout at all?"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.doctor.table import BLOCKING_WAIT, DUMP, ERROR_HANDLING, RING
from rankandfile.model.settings import Finding

ORDER = 20


def check(setup: JobSetup) -> Iterator[Finding]:
    if setup.has_recorder:
        yield from _on_timeout(setup)
    yield from _blocking(setup)
    yield from _handling(setup)


def _on_timeout(setup: JobSetup) -> Iterator[Finding]:
    on, setting = setup.flag(DUMP), setup.setting(DUMP)
    exports: dict[str, str | None] = {DUMP.name: "1"}
    if on is None:
        if setting is None:
            says = f"no dump is written on a timeout before {DUMP.since} unless asked for, and the release is not known"
            yield setup.finding("missing", says, variable=DUMP.name, exports=exports)
    elif not on and setting is None:
        says = f"no dump is written on a timeout: off by default in {setup.torch}"
        yield setup.finding("missing", says, variable=DUMP.name, exports=exports, costs="all")
    elif not on:
        says = f"{DUMP.name}={setting.value if setting else 0}: a timeout ends the job without a dump"
        yield setup.finding("harmful", says, at=setting, exports=exports, costs="all")
    elif setting is not None and not (setup.number(RING) or 0):
        why = "off" if setup.release else f"off before {RING.since}"
        says = f"{DUMP.name}=1 without a ring: there is nothing to dump while the flight recorder is {why}"
        yield setup.finding("useless", says, at=setting, exports={setup.advised(RING): "2000"})
    else:
        says = "a timeout or an error writes the dumps"
        yield setup.finding("ok", says, at=setting, variable=DUMP.name)


def _blocking(setup: JobSetup) -> Iterator[Finding]:
    setting = setup.setting(BLOCKING_WAIT)
    if setting is not None and setup.flag(BLOCKING_WAIT):
        says = f"{setting.name}=1: wait() blocks and raises, and there is no watchdog and no dump"
        if setup.setting(ERROR_HANDLING) is not None:
            says += "; asynchronous error handling beside it does nothing"
        yield setup.finding("harmful", says, at=setting, exports={setting.name: None}, costs="all")


def _handling(setup: JobSetup) -> Iterator[Finding]:
    setting = setup.setting(ERROR_HANDLING)
    value = setup.number(ERROR_HANDLING)
    if setting is None or value not in (0, 2):
        return
    what = (
        "a timeout is noticed and nothing is done: the job hangs for ever"
        if value == 0
        else "a timeout aborts the communicators and the process goes on without them"
    )
    says = f"{setting.name}={value}: {what}"
    yield setup.finding("harmful", says, at=setting, exports={setting.name: None})
