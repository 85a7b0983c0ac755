"""Settings that take out of a dump what the diagnosis needs, or make it too slow to be written."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.doctor.table import CPP_STACK, ONLY_ACTIVE, WITH_STACKS, Variable
from rankandfile.model.settings import Finding

ORDER = 40

#: variable, the value that does harm, what it does
_HARM: tuple[tuple[Variable, bool, str], ...] = (
    (CPP_STACK, True, "adds C++ frames to every call: the dump is slow and misses its deadline"),
    (WITH_STACKS, False, "leaves the stacks out: the dump names no line of code"),
    (ONLY_ACTIVE, True, "drops the finished calls: the history that shows the divergence"),
)


def check(setup: JobSetup) -> Iterator[Finding]:
    for variable, harmful, what in _HARM:
        setting = setup.setting(variable)
        if setting is not None and setup.flag(variable) is harmful:
            says = f"{setting.name}={setting.value} {what}"
            yield setup.finding("harmful", says, at=setting, exports={setting.name: None})
