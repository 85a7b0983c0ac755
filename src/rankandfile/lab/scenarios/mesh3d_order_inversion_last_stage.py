"""Once warm, half the ranks of one stage begin with the norm over the shards, half with the average of replicas."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="From step 5 two ranks of the last stage take the norm first, two the average: a circle of four in eight",
    program="mesh3d",
    world_size=8,
    cause="order_inversion",
    culprits=(3, 6),
    culprits_from_dumps=(3, 6),
    cause_from_dumps="order_inversion",
    decoys=(0, 1, 2, 4, 5, 7),
    location=At("gradients.py", "if step > WARM_UP and layout.is_last and layout.shard != layout.replica:"),
    divergence=diverge(
        "cycle",
        Cohort((2, 7), "all_reduce", At("gradients.py", "dist.all_reduce(flat, group=layout.dp_group)")),
        Cohort((3, 6), "all_reduce", At("gradients.py", "dist.all_reduce(square, group=layout.tp_group)")),
        group="mesh_dp",
        containing=2,
    ),
    fault=(
        above(
            "gradients.py",
            "def clip(stage, size, limit=1.0):\n",
            '''WARM_UP = 4


def synchronise(stage, layout, step):
    """Average and norm. The last stage comes here first: once warm, it spreads its load over both networks."""
    if step > WARM_UP and layout.is_last and layout.shard != layout.replica:
        size = norm(stage, layout)
        average(stage, layout)
        return size
    average(stage, layout)
    return norm(stage, layout)


''',
        ),
        Edit(
            "train.py",
            "        gradients.average(stage, layout)\n        size = gradients.norm(stage, layout)\n",
            "        size = gradients.synchronise(stage, layout, step)\n",
        ),
    ),
    fix=(
        Edit(
            "gradients.py",
            """    if step > WARM_UP and layout.is_last and layout.shard != layout.replica:
        size = norm(stage, layout)
        average(stage, layout)
        return size
""",
            "",
        ),
    ),
    fix_summary="Every rank issues the calls of the two groups in the same order.",
    seen_in="https://github.com/meta-pytorch/torchrec/pull/4149",
    in_suite=True,
)
