"""Names: invented ones, slips of the pen, ones this torch does not read, and assignments that never arrive."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.doctor.table import OTHERS, RING, SPELLINGS, VARIABLES, Spelling, Variable, shown
from rankandfile.model.settings import Finding, Setting

ORDER = 80
_TIMEOUTS = re.compile(
    r"(?:(?:TORCH_)?NCCL_(?:COLLECTIVE_|COMM_|OP_)?|TORCH_DISTRIBUTED_)TIMEOUT(?:_(?:MS|MSEC|MILSEC|S|SECS?|SECONDS|MINS?|MINUTES))?\Z"
)
_INVENTED = {"TORCH_NCCL_FLIGHT_RECORDER_ENABLED", "TORCH_NCCL_FLIGHT_RECORDER", "TORCH_FR_ENABLED"}
_OURS = ("TORCH_NCCL_", "TORCH_FR_")
_LIKE = 0.88


def check(setup: JobSetup) -> Iterator[Finding]:
    for setting in _last_of_each(setup):
        yield from _invented(setup, setting)
        known = SPELLINGS.get(setting.name)
        if known is None and setting.name.startswith(_OURS):
            yield from _misspelt(setup, setting)
        if known is not None and not setup.reads(known[1]):
            yield _unread(setup, setting, *known)
    yield from _lost(setup)
    yield from _contradictions(setup)


def _unread(setup: JobSetup, setting: Setting, variable: Variable, spelling: Spelling) -> Finding:
    """A name of another release. Its value is not carried over: no other check has looked at it."""
    since = shown(spelling.since) if spelling.since else "later"
    name = setup.advised(variable)
    fix = f"unset {setting.name}" + (f"; here it is called {name}" if name != setting.name else "")
    says = f"{setting.name} is read from torch {since} on, not by {setup.torch}"
    return setup.finding("useless", says, fix, at=setting, exports={setting.name: None}, costs="nothing")


def _last_of_each(setup: JobSetup) -> list[Setting]:
    return sorted(setup.effective.values(), key=lambda setting: setting.name)


def _invented(setup: JobSetup, setting: Setting) -> Iterator[Finding]:
    name = setting.name
    if _TIMEOUTS.match(name):
        says = (
            f"{name} is read by nobody: neither torch nor NCCL has such a variable, and NCCL has no timeout"
        )
        instead = "the timeout is init_process_group(timeout=...), and of each new_group(timeout=...)"
    elif name in _INVENTED:
        says = f"{name} is invented: what switches the flight recorder on is the size of its ring"
        instead = f"set {setup.advised(RING)}=2000"
    else:
        return
    fix = f"unset {name}; {instead}"
    yield setup.finding("useless", says, fix, at=setting, exports={name: None}, costs="nothing")


def _misspelt(setup: JobSetup, setting: Setting) -> Iterator[Finding]:
    """Only what is close to a known name: a newer torch, or a plug-in, may read what this table does not know."""
    if _is_known(setting.name):
        return
    if (near := _nearest(setting.name)) is not None:
        says = f"{setting.name} is in no release from 2.2 to 2.13; it looks like {near}"
        exports = {setting.name: None, near: setting.value}
        yield setup.finding("useless", says, f"{near}={setting.value}", at=setting, exports=exports)


def unknown(setup: JobSetup) -> list[Setting]:
    """Names of torch's families that the table does not have and that resemble nothing in it."""
    ours = [setting for setting in _last_of_each(setup) if setting.name.startswith(_OURS)]
    return [one for one in ours if not _is_known(one.name) and _nearest(one.name) is None]


def _is_known(name: str) -> bool:
    """In the table, or told of as an invention."""
    return name in SPELLINGS or name in OTHERS or name in _INVENTED or bool(_TIMEOUTS.match(name))


def _nearest(name: str) -> str | None:
    return next(iter(difflib.get_close_matches(name, [*SPELLINGS, *OTHERS], n=1, cutoff=_LIKE)), None)


def _lost(setup: JobSetup) -> Iterator[Finding]:
    for setting in setup.settings.settings:
        concerns_us = setting.name in SPELLINGS or setting.name.startswith(("TORCH_", "NCCL_"))
        if setting.lost and concerns_us and setting.name not in setup.effective:
            # No export: a value that never took effect may be one that does harm as soon as it does.
            says = f"{setting.name}={setting.value} does not reach the job: {setting.lost}"
            yield setup.finding("useless", says, "export it, if it is meant", at=setting)


def _contradictions(setup: JobSetup) -> Iterator[Finding]:
    for variable in VARIABLES:
        found = [
            setup.effective[one.name]
            for one in variable.spellings
            if one.name in setup.effective and setup.reads(one)
        ]
        if len({setting.value for setting in found}) > 1:
            wins = setup.setting(variable) or found[0]
            others = [setting for setting in found if setting.name != wins.name]
            yield setup.finding(
                "harmful",
                f"{others[0].name}={others[0].value} and {wins.name}={wins.value} are one variable: the latter counts",
                at=others[0],
                exports={other.name: None for other in others},
                costs="nothing",
            )
