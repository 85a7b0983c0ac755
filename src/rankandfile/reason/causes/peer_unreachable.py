"""Its host is gone from the network: a node that failed, or processes that nobody reaches any more."""

from __future__ import annotations

from rankandfile.model.advice import DISABLE, FIRST_LOGGER
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import teller
from rankandfile.reason.toolbox import AskedRank, Facts, Story, died_first, perhaps

CAUSE = Cause(
    word="peer_unreachable",
    family="fabric",
    place=30,
    meaning="A host or process cannot be reached any more.",
    help="The other ranks wait for a process whose host is gone or cut off.",
    remedies=(
        Remedy(
            title="Take the host out of the job",
            text="Drain it, and start again from the last checkpoint.",
        ),
    ),
    anti_advice=(DISABLE, FIRST_LOGGER),
    did="cannot be reached",
    title="A host is gone",
    page="""
## How it comes about

Connections to all processes of a host fail, and nothing of that host says anything any more. It differs from
[`killed`](killed.md) in that no process ended: the host is cut off, or dead.
""",
    scenario="peer-unreachable",
)


@teller(precedence=70, joined=40)
def its_host_is_gone(facts: Facts, asked: AskedRank) -> Story | None:
    error = facts.accounts.unreachable.get(asked.rank)
    if error is None or died_first(facts.accounts, asked.rank):
        return None
    return Story(
        cause=CAUSE.word,
        confidence="supported",
        doing=error.words,
        evidence=error.evidence,
        alternatives=(
            perhaps(
                "killed",
                "Its process may have been killed while the host lives on.",
                [asked.rank],
                decided_by="whether the host answers",
            ),
        ),
    )
