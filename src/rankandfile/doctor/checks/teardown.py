"""Does a failing rank tear its groups down, and its record with them?"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.job_setup import JobSetup
from rankandfile.model.settings import Finding

ORDER = 60
_WHERE = {
    "except": "in an except clause",
    "finally": "in a finally clause, which a failing rank runs too",
    "atexit": "at exit, which a failing rank comes to as well",
}


def check(setup: JobSetup) -> Iterator[Finding]:
    for torn in setup.settings.teardowns:
        says = (
            f"{torn.call} {_WHERE[torn.clause]}: the monitor stops before the dump signal comes, so exactly the guilty "
            "rank's record is lost, and the call may wait for ever for its peers"
        )
        fix = "call it on the way of success only (try ... else), or dump first"
        yield setup.finding("harmful", says, fix, at=torn.place)
