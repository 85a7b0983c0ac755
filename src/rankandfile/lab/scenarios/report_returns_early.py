"""A stage without a loss returns before the broadcast."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="Stages with a zero loss return from the report before the broadcast",
    program="pipeline",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("skipped_collective",),
    culprits=(0, 2),
    location=At("train.py", "if loss.item() == 0.0:"),
    divergence=diverge(
        "skipped",
        Cohort((0,)),
        Cohort((1,), "broadcast", At("train.py", "dist.broadcast(loss, src=last")),
        group="pp0",
    ),
    fault=(
        above(
            "train.py",
            "    last = layout.replica * layout.pp + layout.pp - 1\n",
            "    if loss.item() == 0.0:\n        return\n",
        ),
        below(
            "train.py",
            "    dist.broadcast(loss, src=last, group=layout.pp_group)\n",
            "    dist.barrier(group=layout.pp_group)\n",
        ),
    ),
    fix=(Edit("train.py", "    if loss.item() == 0.0:\n        return\n", ""),),
    fix_summary="Take part in the broadcast first; only the last stage knows the loss.",
    seen_in="https://github.com/NVIDIA/Megatron-LM/issues/4745",
)
