"""Does a failing rank tear its groups down, and its record with them?"""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.doctor.subject import Subject
from rankandfile.model.settings import Finding

ORDER = 60
_WHERE = {
    "except": "in an except clause",
    "finally": "in a finally clause, which a failing rank runs too",
    "atexit": "at exit, which a failing rank comes to as well",
}


def check(subject: Subject) -> Iterator[Finding]:
    for torn in subject.settings.teardowns:
        says = (
            f"{torn.call} {_WHERE[torn.clause]}: the monitor stops before the dump signal comes, so exactly the guilty "
            "rank's record is lost, and the call may wait for ever for its peers"
        )
        fix = "call it on the way of success only (try ... else), or dump first"
        yield subject.finding("harmful", says, fix, at=torn.place)
