"""Is there time to write the dumps before something kills the process?"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import KILL_GRACE_S, JobSetup
from rankandfile.doctor.table import DUMP_WAIT, HEARTBEAT, MONITORING
from rankandfile.model.settings import Finding, Place

ORDER = 50
_SHORTEST_MS = 5000
"""The first dump with stacks of 2000 calls took a process up to 2.2 s on a local disk; shared storage is slower."""
_LONGEST_HEARTBEAT_S = 1800
_SHORTEST_HEARTBEAT_S = 60


def check(setup: JobSetup) -> Iterator[Finding]:
    yield from _monitoring(setup)
    if not setup.has_recorder:
        return
    yield from _wait(setup)
    yield from _heartbeat(setup)
    yield from _kill(setup)


def dump_seconds(setup: JobSetup) -> float | None:
    """The longest that torch waits for a dump: two tries from 2.8 on."""
    wait = setup.number(DUMP_WAIT)
    if wait is None:
        return None
    return wait * (2 if setup.release is None or setup.release >= (2, 8) else 1) / 1000


def _silence_seconds(setup: JobSetup) -> float | None:
    """How long the first rank to time out stays alive on purpose, so that the others can dump."""
    if setup.release is None or setup.release < (2, 5):
        return None
    if setup.release < (2, 8):
        return 60.0
    return 4 * (setup.number(DUMP_WAIT) or 0) / 1000


def _wait(setup: JobSetup) -> Iterator[Finding]:
    setting, wait = setup.setting(DUMP_WAIT), setup.number(DUMP_WAIT)
    if setting is not None and wait is not None and wait < _SHORTEST_MS:
        says = (
            f"{setting.name}={wait}: {wait / 1000:g} s to write a dump. The first one with stacks takes a process up "
            "to some seconds, more on shared storage; what is not written by then is lost"
        )
        yield setup.finding("harmful", says, at=setting, exports={setting.name: "60000"})


def _monitoring(setup: JobSetup) -> Iterator[Finding]:
    setting = setup.setting(MONITORING)
    if setting is not None and setup.flag(MONITORING) is False:
        says = (
            f"{setting.name}={setting.value} removes the kill, not the hang: a process whose watchdog is stuck then "
            "holds its GPUs for ever, and it is not the timeout of collectives"
        )
        yield setup.finding("harmful", says, at=setting, exports={setting.name: None})


def _heartbeat(setup: JobSetup) -> Iterator[Finding]:
    setting, seconds = setup.setting(HEARTBEAT), setup.number(HEARTBEAT)
    if setting is None or seconds is None:
        return
    dump = dump_seconds(setup) or 0.0
    exports: dict[str, str | None] = {setting.name: None}
    if seconds < max(_SHORTEST_HEARTBEAT_S, dump):
        says = (
            f"{setting.name}={seconds}: the monitor kills a process whose watchdog spends {seconds} s in one CUDA or "
            f"NCCL call, and leaves no room for a dump of up to {dump:g} s"
        )
        yield setup.finding("harmful", says, at=setting, exports=exports)
    elif seconds > _LONGEST_HEARTBEAT_S:
        default = HEARTBEAT.default(setup.release)
        says = (
            f"{setting.name}={seconds} is not the timeout of collectives: it only lets a stuck watchdog stand for "
            f"{seconds / 60:.0f} minutes" + (f" (default {default} s)" if default else "")
        )
        yield setup.finding("useless", says, at=setting, exports=exports)


def _kill(setup: JobSetup) -> Iterator[Finding]:
    dump = dump_seconds(setup)
    if dump is None:
        return
    explicit = [(s.seconds, s.detail, s.place) for s in setup.settings.spans if s.what == "grace"]
    if setup.options.grace_s is not None:
        explicit.append((setup.options.grace_s, "--grace", setup.settings.place))
    for seconds, detail, place in explicit:
        if seconds is not None and seconds < dump:
            yield _too_short(setup, seconds, detail, place, dump)
    silence = _silence_seconds(setup)
    known = explicit or setup.settings.launcher == "shell" or silence is None
    if not known and (silence or 0) + KILL_GRACE_S < dump:
        says = (
            f"a dump may take {dump:g} s; the first rank to die waits {silence or 0:g} s, and the others are killed "
            f"{KILL_GRACE_S:g} s later unless the cluster grants more"
        )
        yield setup.finding("missing", says, exports={DUMP_WAIT.name: "60000"})


def _too_short(setup: JobSetup, seconds: float, detail: str, place: Place, dump: float) -> Finding:
    says = (
        f"{detail}: {seconds:g} s between asking and killing; a dump may take {dump:g} s, and ranks still writing "
        "theirs lose it"
    )
    fix = {
        "kubernetes": f"terminationGracePeriodSeconds: {dump + 30:.0f}",
        "slurm": f"a KillWait of {dump + 30:.0f} s or more (slurm.conf)",
    }.get(setup.settings.launcher, f"leave {dump + 30:.0f} s or more")
    return setup.finding("harmful", says, fix, at=place)
