"""Its own network adapter reported a fault of the port or the link."""

from __future__ import annotations

from rankandfile.model.advice import DISABLE
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import finder, teller
from rankandfile.reason.toolbox import (
    AskedRank,
    Facts,
    Patience,
    Pending,
    Story,
    WaitEnd,
    call_phrase,
    cited,
    died_first,
    patience,
    pending_row,
    perhaps,
)
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper, verb

CAUSE = Cause(
    word="link_error",
    family="fabric",
    place=20,
    meaning="A network port or link failed under the collective.",
    help="The data of the collective cannot pass. Look at the port, the cable and the switch that the log "
    "names.",
    remedies=(
        Remedy(
            title="Take the port out of the job",
            text="Check cable, switch port and counters before it is used again.",
        ),
    ),
    anti_advice=(DISABLE,),
    did="lost a network link",
    title="A link failed",
    page="""
## How it comes about

NCCL names the port, or the kernel says that a link went down:

```text
NET/IB : Got async event : port error
mlx5_0: Port 1 state changed to DOWN
```

`NCCL_DEBUG=WARN` is what makes NCCL say so; [`raf doctor`](../commands/doctor.md) asks for it.
""",
    scenario="link-error",
)


@teller(precedence=110, joined=30)
def its_adapter_failed(facts: Facts, asked: AskedRank) -> Story | None:
    error = facts.accounts.link.get(asked.rank)
    if error is None:
        return None
    return Story(
        cause=CAUSE.word,
        confidence="supported",
        doing=f"its network adapter failed: {error.words}",
        evidence=error.evidence,
        alternatives=(
            perhaps(
                "network_stalled",
                "The fault may lie elsewhere in the fabric, and its port only have noticed.",
                decided_by="the kernel log of its host and the switch's counters",
            ),
        ),
    )


def on_a_host(facts: Facts, wait_end: WaitEnd, call: Pending) -> Finding | None:
    """A link went down on a host of several members: that explains the wait, and accuses none of them."""
    hosts = {facts.accounts.hosts.get(rank) for rank in facts.membership.members[call.group]}
    down = {host: error for host, error in facts.accounts.host_links.items() if host in hosts}
    row = pending_row(facts, call)
    if not down or wait_end.kind != "joined" or patience(facts, call) in (Patience.NOT_YET, Patience.UNKNOWN):
        return None
    said = "; ".join(f"{host}: {error.words}" for host, error in list(down.items())[:3])
    return Finding(
        cause="link_error",
        confidence="supported",
        sentence=(
            f"All members joined the {call_phrase(facts, call)}, and none finishes it. The kernel tells of a link that "
            f"went down ({said}); which rank used it, nothing tells."
        ),
        evidence=(*cited(row), *(i for error in down.values() for i in error.evidence)),
        contradicted_by="a link that came up again before the call",
    )


@finder(precedence=72)
def between_two_hosts(facts: Facts, wait_end: WaitEnd) -> Finding | None:
    """One connection was lost, and it has two ends. Whoever ended upon that left out nothing of its own accord."""
    accounts, lost = facts.accounts, facts.accounts.lost_between
    if lost is None or any(died_first(accounts, rank) for rank in accounts.ends):
        return None
    at_ends = {host: sorted(r for r, h in accounts.hosts.items() if h == host) for host in lost.hosts}
    both = {rank for ranks in at_ends.values() for rank in ranks}
    # Who waits for others than these waits for another reason.
    if not wait_end.pending or set(wait_end.ranks) - both:
        return None
    call = facts.waits.pending[wait_end.pending[0]]
    members = set(facts.membership.members[call.group])
    if not all(members & set(ranks) for ranks in at_ends.values()):
        return None
    ends = " and ".join(f"{ranks_words(ranks)} ({host})" for host, ranks in at_ends.items())
    gone = sorted(r for r in both if accounts.gone(r))
    ended = f" {upper(ranks_words(gone))} ended, and learned of it by an exception." if gone else ""
    row = pending_row(facts, call)
    return Finding(
        cause=CAUSE.word,
        confidence="supported",
        sentence=(
            f"{upper(ranks_words(call.waiting))} {verb(call.waiting, 'waits', 'wait')} in the "
            f"{call_phrase(facts, call)}. The connection between {ends} was lost: {lost.error.words}.{ended} Either of "
            "the two hosts may be cut off: one connection does not tell which."
        ),
        evidence=(*lost.error.evidence, *cited(row)),
        contradicted_by="another connection that was lost, of one of the two and a third host",
        alternatives=tuple(
            perhaps(
                "peer_unreachable",
                f"Host {host} may be gone, or cut off.",
                ranks,
                decided_by=f"whether {host} answers the other hosts of the job",
            )
            for host, ranks in at_ends.items()
        ),
    )
