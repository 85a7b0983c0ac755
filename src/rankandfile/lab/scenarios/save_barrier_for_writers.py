"""Eight ranks: the barrier after a checkpoint is inside the writers' branch."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, diverge

SCENARIO = Scenario(
    title="Only the ranks that write a checkpoint wait at the barrier after it",
    program="mesh_lm",
    world_size=8,
    args=("--dp", "4", "--tp", "2", "--steps", "12", "--save-every", "5"),
    cause="rank_conditional",
    accepted_causes=("extra_collective",),
    culprits=(0, 1),
    culprits_from_dumps=(0, 1),
    location=At("checkpoint.py", "if layout.writes_checkpoints:"),
    divergence=diverge(
        "extra",
        Cohort((0, 1), "barrier", At("checkpoint.py", "dist.barrier()")),
        Cohort((2, 3, 4, 5, 6, 7)),
    ),
    fault=(Edit("checkpoint.py", "    dist.barrier()\n", "        dist.barrier()\n"),),
    fix_summary="The barrier belongs outside the branch.",
    seen_in="https://github.com/allenai/allennlp/pull/4693",
)
