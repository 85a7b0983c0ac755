"""A stage without a loss returns before the broadcast."""

from rankandfile.lab.scenario import At, Cohort, Edit, Parting, Scenario

SCENARIO = Scenario(
    name="report_returns_early",
    title="Stages with a zero loss return from the report before the broadcast",
    program="pipeline",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("skipped_collective",),
    culprits=(0, 2),
    culprits_from_dumps=(),
    location=At("train.py", "if loss.item() == 0.0:"),
    parting=Parting(
        kind="skipped",
        group="pp0",
        cohorts=(Cohort((0,)), Cohort((1,), "broadcast", At("train.py", "dist.broadcast(loss, src=last"))),
    ),
    fault=(
        Edit(
            "train.py",
            "    last = layout.replica * layout.pp + layout.pp - 1\n",
            """    if loss.item() == 0.0:
        return
    last = layout.replica * layout.pp + layout.pp - 1
""",
        ),
        Edit(
            "train.py",
            "    dist.broadcast(loss, src=last, group=layout.pp_group)\n",
            """    dist.broadcast(loss, src=last, group=layout.pp_group)
    dist.barrier(group=layout.pp_group)
""",
        ),
    ),
    fix=(Edit("train.py", "    if loss.item() == 0.0:\n        return\n", ""),),
    fix_summary="Take part in the broadcast first; only the last stage knows the loss.",
    seen_in="https://github.com/NVIDIA/Megatron-LM/issues/4745",
)
