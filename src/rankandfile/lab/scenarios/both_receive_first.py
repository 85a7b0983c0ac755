"""Neighbours that both receive before they send."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, diverge

SCENARIO = Scenario(
    title="Both neighbours of an exchange receive first: nobody sends",
    program="pipeline",
    world_size=4,
    cause="order_inversion",
    culprits=(0, 1, 2, 3),
    location=At("transfer.py", "dist.recv(inbox, neighbour, group=layout.pp_group)"),
    divergence=diverge(
        "cycle",
        Cohort((0, 1), "recv", At("transfer.py", "dist.recv(inbox, neighbour, group=layout.pp_group)")),
        Cohort((2, 3), "recv", At("transfer.py", "dist.recv(inbox, neighbour, group=layout.pp_group)")),
        group="pp0",
    ),
    fault=(
        Edit(
            "transfer.py",
            """            operations.append(dist.P2POp(dist.isend, mine, neighbour, group=layout.pp_group))
            operations.append(dist.P2POp(dist.irecv, inbox, neighbour, group=layout.pp_group))
    if operations:
        for work in dist.batch_isend_irecv(operations):
            work.wait()
""",
            """            dist.recv(inbox, neighbour, group=layout.pp_group)
            dist.send(mine, neighbour, group=layout.pp_group)
""",
        ),
        Edit("transfer.py", "    operations, received = [], []\n", "    received = []\n"),
    ),
    fix_summary="Post sends and receives of both sides together.",
    seen_in="https://github.com/NVIDIA/Megatron-LM/issues/5100",
)
