"""Its own network adapter reported a fault of the port or the link."""

from __future__ import annotations

from rankandfile.model.advice import DISABLE
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Remedy
from rankandfile.reason.finder import teller
from rankandfile.reason.toolbox import (
    AskedRank,
    Facts,
    Patience,
    Pending,
    Story,
    WaitEnd,
    call_phrase,
    cited,
    patience,
    pending_row,
    perhaps,
)
from rankandfile.reason.verdict.finding import Finding

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
