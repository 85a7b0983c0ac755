"""Two reductions over two groups, started in an order that depends on the rank."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Half the ranks reduce over replicas first, half over shards first: a circle of four",
    program="mesh_lm",
    world_size=4,
    cause="order_inversion",
    culprits=(0, 1, 2, 3),
    culprits_from_dumps=(0, 1, 2, 3),
    cause_from_dumps="order_inversion",
    location=At("gradients.py", "if layout.tp_rank == layout.dp_rank:"),
    divergence=diverge(
        "cycle",
        Cohort((0, 3), "all_reduce", At("gradients.py", "dist.all_reduce(flat, group=layout.dp_group)")),
        Cohort((1, 2), "all_reduce", At("gradients.py", "dist.all_reduce(square, group=layout.tp_group)")),
        group="mesh_dp",
    ),
    fault=(
        above(
            "gradients.py",
            "def clip(model, norm, limit):\n",
            '''def synchronise(model, layout):
    """Average the gradients and find their norm; neighbours begin on different links to spread the traffic."""
    if layout.tp_rank == layout.dp_rank:
        average_gradients(model, layout)
        return gradient_norm(model, layout)
    norm = gradient_norm(model, layout)
    average_gradients(model, layout)
    return norm


''',
        ),
        Edit(
            "train.py",
            "        average_gradients(model, layout)\n        norm = gradient_norm(model, layout)\n",
            "        norm = synchronise(model, layout)\n",
        ),
        Edit(
            "train.py",
            "from gradients import average_gradients, clip, gradient_norm\n",
            "from gradients import clip, synchronise\n",
        ),
    ),
    fix=(
        Edit(
            "gradients.py",
            """    if layout.tp_rank == layout.dp_rank:
        average_gradients(model, layout)
        return gradient_norm(model, layout)
    norm = gradient_norm(model, layout)
    average_gradients(model, layout)
    return norm
""",
            """    average_gradients(model, layout)
    return gradient_norm(model, layout)
""",
        ),
    ),
    fix_summary="Every rank issues the reductions of the two groups in the same order.",
    seen_in="https://github.com/meta-pytorch/torchrec/pull/4149",
    in_suite=True,
)
