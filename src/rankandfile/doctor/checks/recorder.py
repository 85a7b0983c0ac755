"""Is the flight recorder on, and does its ring hold enough of the past?"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.doctor.table import RING
from rankandfile.model.settings import Finding

ORDER = 10
SANE = 2000
_TOO_MANY = 100_000
"""About 100 MB of host memory per rank; the usual 20,000 stay far below."""
_TOO_FEW = 200
_KB_PER_ENTRY = 1


def check(setup: JobSetup) -> Iterator[Finding]:
    name = setup.advised(RING)
    size, wanted = setup.number(RING), _wanted(setup)
    setting = setup.setting(RING)
    advice: dict[str, str | None] = {name: str(max(SANE, wanted or 0))}
    if setting is not None and setting.name != name:
        advice[setting.name] = None
    if not setup.has_recorder:
        says = f"{setup.torch} has no flight recorder: a hang leaves logs and stacks only"
        yield setup.finding("missing", says, "update torch to 2.2 or later", costs="all")
    elif size is None:
        if setting is None:
            says = f"the flight recorder is off by default before {RING.since}, and the release is not known"
            yield setup.finding("missing", says, variable=name, exports=advice)
    elif size <= 0 and setting is None:
        says = (
            f"the flight recorder is off by default in {setup.torch}, whatever size its start-up line prints"
        )
        yield setup.finding("missing", says, variable=name, exports=advice, costs="all")
    elif size <= 0:
        says = f"{RING.name if setting is None else setting.name}={size} switches the flight recorder off"
        yield setup.finding("harmful", says, at=setting, exports=advice, costs="all")
    elif size > max(_TOO_MANY, 4 * (wanted or 0)) and setting is not None:
        gigabytes = size * _KB_PER_ENTRY / 1e6
        says = (
            f"{setting.name}={size} counts entries, not bytes: about {gigabytes:.1f} GB of host memory per rank when "
            "full, and a dump that takes tens of seconds"
        )
        yield setup.finding("harmful", says, at=setting, exports=advice)
    elif wanted is not None and size < wanted:
        per_step = setup.options.calls_per_step or 1
        says = (
            f"a ring of {size} entries holds {size / per_step:.1f} steps of {per_step} calls; "
            f"{setup.options.steps_to_keep} are wanted"
        )
        yield setup.finding("missing", says, at=setting, variable=name, exports=advice)
    elif size < _TOO_FEW and wanted is None:
        says = f"a ring of {size} entries is less than a step of most jobs: the divergence will have scrolled away"
        yield setup.finding("missing", says, at=setting, variable=name, exports=advice)
    else:
        says = f"the flight recorder keeps the last {size} calls of each rank"
        if wanted is None:
            says += "; --calls-per-step or --case tells how many steps that is"
        yield setup.finding("ok", says, at=setting, variable=name)


def _wanted(setup: JobSetup) -> int | None:
    """Entries that hold the steps to keep, with the step that is under way; rounded up to a number people set."""
    per_step = setup.options.calls_per_step
    if per_step is None:
        return None
    return -(-per_step * (setup.options.steps_to_keep + 1) // 100) * 100
