"""Values that torch refuses, or reads as something else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rankandfile.doctor.job_setup import FALSE, TRUE, JobSetup
from rankandfile.doctor.table import VARIABLES
from rankandfile.model.settings import Finding

ORDER = 90
_NUMBER = re.compile(r"\s*[+-]?\d{1,18}\s*\Z")


def check(setup: JobSetup) -> Iterator[Finding]:
    for variable in VARIABLES:
        setting = setup.setting(variable)
        value = setting.value if setting is not None else None
        if setting is None or value is None or "$" in value:
            continue
        if variable.kind == "flag" and value.strip().lower() not in TRUE | FALSE:
            yield setup.finding(
                "harmful",
                f"{setting.name}={value!s}: torch refuses it at start-up; it takes 0 or 1, true or false",
                at=setting,
                exports={setting.name: variable.default(setup.release) or "1"},
            )
        elif variable.kind == "number" and not _NUMBER.match(value):
            read = setup.number(variable)
            yield setup.finding(
                "harmful",
                f"{setting.name}={value!s} is no number: "
                + ("torch refuses it at start-up" if read is None else f"torch reads {read}"),
                "give a whole number",
                at=setting,
                exports={setting.name: None},
            )
