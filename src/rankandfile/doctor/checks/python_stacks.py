"""Does a killed process say where its Python code was?"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.model.settings import Finding

ORDER = 110
_NAME = "PYTHONFAULTHANDLER"


def check(setup: JobSetup) -> Iterator[Finding]:
    setting = setup.effective.get(_NAME)
    by_option = any("-X faulthandler" in command.text for command in setup.settings.commands)
    if by_option or (setting is not None and setting.value not in (None, "", "0")):
        says = "a watchdog's abort prints the Python stacks of every thread"
        yield setup.finding("ok", says, at=setting, variable=_NAME)
    else:
        says = (
            "a watchdog's abort says nothing of where the Python code was (a kill or a mere hang never does)"
        )
        yield setup.finding("missing", says, variable=_NAME, exports={_NAME: "1"})
