"""The call is skipped in one group, and the hang is in another."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Ranks 1 and 3 skip the norm over the shards when their own part is small",
    program="mesh_lm",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("skipped_collective",),
    culprits=(1, 3),
    culprits_from_dumps=(1, 3),
    location=At("gradients.py", "if square.item() < 10.0:"),
    divergence=diverge(
        "skipped",
        Cohort((2,), "all_reduce", At("gradients.py", "dist.all_reduce(square, group=layout.tp_group)")),
        Cohort((3,), "all_reduce", At("layers.py", "dist.all_reduce(x, group=group)")),
        group="mesh_tp",
        containing=3,
    ),
    fault=(
        above(
            "gradients.py",
            "    dist.all_reduce(square, group=layout.tp_group)\n",
            "    if square.item() < 10.0:\n        return square.sqrt().item()\n",
        ),
    ),
    fix=(
        Edit(
            "gradients.py",
            """    if square.item() < 10.0:
        return square.sqrt().item()
    dist.all_reduce(square, group=layout.tp_group)
""",
            """    dist.all_reduce(square, group=layout.tp_group)
    if square.item() < 10.0:
        return square.sqrt().item()
""",
        ),
    ),
    fix_summary="Reduce first, then decide: the sum is the same on every shard.",
)
