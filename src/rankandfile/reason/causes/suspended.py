"""A signal has stopped its process: in whatever call it is, it does nothing until another signal lets it go on.

That is a fact of the kernel's, and not one of the program's: a call that needs this rank cannot end, joined or not.
"""

from __future__ import annotations

from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject

CAUSE = "host_blocked"


def tell(facts: Facts, subject: Subject) -> Story | None:
    held = facts.accounts.suspended.get(subject.rank)
    if held is None:
        return None
    stand = facts.hosts.get(subject.rank)
    where = f"; it stands {stand.phrase}" if stand is not None and not stand.died else ""
    return Story(
        cause=CAUSE,
        confidence="established" if subject.proved else "supported",
        doing=f"{held.words}{where}",
        evidence=(*held.evidence, *(stand.evidence if stand is not None else ())),
    )
