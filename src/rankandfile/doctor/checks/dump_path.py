"""Do the dumps end up where somebody can still read them?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankandfile.doctor.paths import FILE, advised_prefix, is_temporary, names_the_job, storage, with_job_id
from rankandfile.doctor.subject import Subject
from rankandfile.doctor.table import DUMP, PATH, RING
from rankandfile.model.settings import Finding, Setting

ORDER = 30
_PERCENT = re.compile(r"%[A-Za-z]")
_RESTARTS = re.compile(r"--max[-_]restarts[= ]([1-9]\d*)")


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.has_recorder:
        return
    setting = subject.setting(PATH)
    if setting is None or not setting.value:
        yield _default(subject)
    else:
        problems = list(_problems(subject, setting, setting.value))
        yield from problems
        if not problems:
            says = f"dumps go to {setting.value}<rank>{storage(subject, setting.value)}"
            yield subject.finding("ok", says, at=setting)
    yield from _restarts(subject)


def _default(subject: Subject) -> Finding:
    """Nothing is set: where they go then, and what becomes of them there."""
    default = PATH.default(subject.release)
    where = f"{default}<rank>" if default else "/tmp or ~/.cache/torch, by release,"
    gone = (
        "gone with the pod"
        if subject.settings.launcher == "kubernetes"
        else "overwritten by the next attempt"
    )
    if default and is_temporary(default) and subject.settings.launcher == "slurm":
        gone = "on each node's own disk, often cleared when the job ends"
    asked = subject.setting(DUMP) is not None or (subject.number(RING) or 0) > 0
    lead = "the dumps go to" if asked else "dumps would go to"
    prefix = advised_prefix(subject)
    return subject.finding(
        "missing",
        f"{lead} {where} by default: {gone}",
        "" if prefix else _MOUNT,
        variable=subject.advised(PATH),
        exports={subject.advised(PATH): prefix} if prefix else {},
        costs="all" if subject.settings.launcher == "kubernetes" else "part",
    )


_MOUNT = "mount a volume that outlives the pod (persistentVolumeClaim, nfs) and let the prefix point into it"


def _problems(subject: Subject, setting: Setting, value: str) -> Iterator[Finding]:
    """What is wrong with the prefix; each with a whole new one, so that any of them mends it."""
    prefix = advised_prefix(subject)
    anew: dict[str, str | None] = {setting.name: prefix} if prefix else {}
    fix = "" if prefix else _MOUNT
    if setting.unexpanded:
        says = f"{setting.name}={value}: {setting.unexpanded} is not expanded here, the path is taken as it stands"
        yield subject.finding("useless", says, fix, at=setting, exports=anew, costs="all")
        return
    if _PERCENT.search(value):
        says = f"{setting.name}={value}: torch expands no %; only Slurm's own options and NCCL_DEBUG_FILE do"
        yield subject.finding("useless", says, fix, at=setting, exports=anew)
    if value.endswith((".json", ".pkl", ".pickle", ".txt", ".log")):
        says = f"{setting.name}={value} is a prefix: the rank is appended to it, and each file is a pickle"
        stem = value.rsplit(".", 1)[0] + "_rank_"
        yield subject.finding("useless", says, at=setting, exports={setting.name: stem}, costs="nothing")
    if _is_directory(subject, value):
        says = f"{setting.name}={value} names a directory; it is a prefix, and the files become {value}0, {value}1"
        inside = f"{value.rstrip('/')}/{FILE}"
        yield subject.finding("useless", says, at=setting, exports={setting.name: inside}, costs="nothing")
    lost = storage(subject, value)
    if lost:
        yield subject.finding(
            "missing" if subject.settings.launcher == "shell" else "useless",
            f"{setting.name}={value}{lost}",
            fix,
            at=setting,
            exports=anew,
            costs="all" if subject.settings.launcher == "kubernetes" else "part",
        )
    elif not names_the_job(subject, value):
        says = (
            f"{setting.name}={value} has no job id in it: the next attempt overwrites the dumps of this one"
        )
        exports: dict[str, str | None] = {setting.name: with_job_id(subject, value)}
        yield subject.finding("missing", says, at=setting, exports=exports)


def _is_directory(subject: Subject, value: str) -> bool:
    if value.endswith("/") or value in subject.settings.folders:
        return True
    if any(volume.mount.rstrip("/") == value for volume in subject.settings.volumes):
        return True
    return any(
        value in command.text.split()[1:]
        for command in subject.settings.commands
        if command.text.startswith("mkdir ")
    )


def _restarts(subject: Subject) -> Iterator[Finding]:
    for command in subject.settings.commands:
        found = _RESTARTS.search(command.text)
        if found:
            says = f"--max-restarts {found[1]}: a restart writes its dumps over those of the attempt before"
            fix = "let the scheduler restart the job under a new id, or move the dumps away between attempts"
            yield subject.finding("missing", says, fix, at=command.place, variable="", costs="nothing")
