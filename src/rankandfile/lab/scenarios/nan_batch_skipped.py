"""A batch without labels gives a NaN loss; the rank that sees it skips the backward pass alone."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 2 skips backward on a NaN loss, the others reduce gradients",
    program="classifier",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("skipped_collective",),
    culprits=(2,),
    culprits_from_dumps=(2,),
    cause_from_dumps="skipped_collective",
    location=At("trainer.py", "if torch.isnan(loss):"),
    divergence=diverge(
        "skipped",
        Cohort((2,), "all_reduce", At("trainer.py", "means = self.meters.synchronise()")),
        Cohort((0, 1, 3), "all_reduce", At("trainer.py", "loss.backward()")),
    ),
    fault=(
        Edit(
            "shards.json",
            '"part-2", "samples": 128, "unlabelled": []',
            '"part-2", "samples": 128, "unlabelled": [[56, 64]]',
        ),
        above(
            "trainer.py",
            "        loss.backward()\n",
            """        if torch.isnan(loss):
            log.warning("step %d: loss is NaN, skipping the batch", self.step)
            return 0.0
""",
        ),
    ),
    fix=(Edit("trainer.py", "if torch.isnan(loss):", "if parallel.any_rank(torch.isnan(loss)):"),),
    fix_summary="All ranks skip the batch together: reduce the flag with MAX.",
    seen_in="https://github.com/NVIDIA-NeMo/Speech/pull/578",
    in_suite=True,
)
