"""One rank leaves a send out of its batch of transfers."""

from rankandfile.lab.scenario import At, Edit, Scenario

SCENARIO = Scenario(
    title="Rank 2 leaves out a send that its neighbour receives",
    program="pipeline",
    world_size=4,
    args=("--pp", "4"),
    cause="skipped_collective",
    accepted_causes=("rank_conditional",),
    culprits=(2,),
    location=At("transfer.py", "if mine[1] != 2.0 or neighbour < layout.rank:"),
    fault=(
        Edit(
            "transfer.py",
            "            operations.append(dist.P2POp(dist.isend, mine, neighbour, group=layout.pp_group))\n",
            """            if mine[1] != 2.0 or neighbour < layout.rank:
                operations.append(dist.P2POp(dist.isend, mine, neighbour, group=layout.pp_group))
""",
        ),
    ),
    fix_summary="Every receive needs its send: the filter must be known to both sides.",
)
