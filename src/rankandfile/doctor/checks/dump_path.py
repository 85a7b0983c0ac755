"""Do the dumps end up where somebody can still read them?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.doctor.paths import FILE, advised_prefix, is_temporary, names_the_job, storage, with_job_id
from rankandfile.doctor.table import DUMP, PATH, RING
from rankandfile.model.settings import Finding, Setting

ORDER = 30
_PERCENT = re.compile(r"%[A-Za-z]")
_RESTARTS = re.compile(r"--max[-_]restarts[= ]([1-9]\d*)")


def check(setup: JobSetup) -> Iterator[Finding]:
    if not setup.has_recorder:
        return
    setting = setup.setting(PATH)
    if setting is None or not setting.value:
        yield _default(setup)
    else:
        problems = list(_problems(setup, setting, setting.value))
        yield from problems
        if not problems:
            says = f"dumps go to {setting.value}<rank>{storage(setup, setting.value)}"
            yield setup.finding("ok", says, at=setting)
    yield from _restarts(setup)


def _default(setup: JobSetup) -> Finding:
    """Nothing is set: where they go then, and what becomes of them there."""
    default = PATH.default(setup.release)
    where = f"{default}<rank>" if default else "/tmp or ~/.cache/torch, by release,"
    gone = (
        "gone with the pod" if setup.settings.launcher == "kubernetes" else "overwritten by the next attempt"
    )
    if default and is_temporary(default) and setup.settings.launcher == "slurm":
        gone = "on each node's own disk, often cleared when the job ends"
    asked = setup.setting(DUMP) is not None or (setup.number(RING) or 0) > 0
    lead = "the dumps go to" if asked else "dumps would go to"
    prefix = advised_prefix(setup)
    return setup.finding(
        "missing",
        f"{lead} {where} by default: {gone}",
        "" if prefix else _MOUNT,
        variable=setup.advised(PATH),
        exports={setup.advised(PATH): prefix} if prefix else {},
        costs="all" if setup.settings.launcher == "kubernetes" else "part",
    )


_MOUNT = "mount a volume that outlives the pod (persistentVolumeClaim, nfs) and let the prefix point into it"


def _problems(setup: JobSetup, setting: Setting, value: str) -> Iterator[Finding]:
    """What is wrong with the prefix; each with a whole new one, so that any of them mends it."""
    prefix = advised_prefix(setup)
    anew: dict[str, str | None] = {setting.name: prefix} if prefix else {}
    fix = "" if prefix else _MOUNT
    if setting.unexpanded:
        says = f"{setting.name}={value}: {setting.unexpanded} is not expanded here, the path is taken as it stands"
        yield setup.finding("useless", says, fix, at=setting, exports=anew, costs="all")
        return
    if _PERCENT.search(value):
        says = f"{setting.name}={value}: torch expands no %; only Slurm's own options and NCCL_DEBUG_FILE do"
        yield setup.finding("useless", says, fix, at=setting, exports=anew)
    if value.endswith((".json", ".pkl", ".pickle", ".txt", ".log")):
        says = f"{setting.name}={value} is a prefix: the rank is appended to it, and each file is a pickle"
        stem = value.rsplit(".", 1)[0] + "_rank_"
        yield setup.finding("useless", says, at=setting, exports={setting.name: stem}, costs="nothing")
    if _is_directory(setup, value):
        says = f"{setting.name}={value} names a directory; it is a prefix, and the files become {value}0, {value}1"
        inside = f"{value.rstrip('/')}/{FILE}"
        yield setup.finding("useless", says, at=setting, exports={setting.name: inside}, costs="nothing")
    lost = storage(setup, value)
    if lost:
        yield setup.finding(
            "missing" if setup.settings.launcher == "shell" else "useless",
            f"{setting.name}={value}{lost}",
            fix,
            at=setting,
            exports=anew,
            costs="all" if setup.settings.launcher == "kubernetes" else "part",
        )
    elif not names_the_job(setup, value):
        says = (
            f"{setting.name}={value} has no job id in it: the next attempt overwrites the dumps of this one"
        )
        exports: dict[str, str | None] = {setting.name: with_job_id(setup, value)}
        yield setup.finding("missing", says, at=setting, exports=exports)


def _is_directory(setup: JobSetup, value: str) -> bool:
    if value.endswith("/") or value in setup.settings.folders:
        return True
    if any(volume.mount.rstrip("/") == value for volume in setup.settings.volumes):
        return True
    return any(
        value in command.text.split()[1:]
        for command in setup.settings.commands
        if command.text.startswith("mkdir ")
    )


def _restarts(setup: JobSetup) -> Iterator[Finding]:
    for command in setup.settings.commands:
        found = _RESTARTS.search(command.text)
        if found:
            says = f"--max-restarts {found[1]}: a restart writes its dumps over those of the attempt before"
            fix = "let the scheduler restart the job under a new id, or move the dumps away between attempts"
            yield setup.finding("missing", says, fix, at=command.place, variable="", costs="nothing")
