"""One host loses its link; the kernels on both sides of it give up after a few retries."""

from rankandfile.lab.scenario import Cut, Evidence, Scenario

SCENARIO = Scenario(
    title="Rank 2's host loses its link; its neighbours' sockets time out, and the others wait in silence",
    program="classifier",
    world_size=4,
    args=("--epochs", "40", "--patience", "1000"),
    cause="peer_unreachable",
    accepted_causes=("network_stalled", "link_error"),
    culprits=(2,),
    cuts=(Cut(rank=0, after_calls=60, links=(2,)),),
    tcp_retries=3,
    needs=("root", "iproute2"),
    stall_s=8.0,
    evidence=Evidence(watchdog=False, dump_at_exit=True),
    fix_summary="Nothing to change in the code: find out what happened to the host of rank 2.",
)
