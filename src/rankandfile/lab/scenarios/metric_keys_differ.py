"""A meter that only some ranks have: one reduction per key, and the number of keys differs."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, below, diverge

SCENARIO = Scenario(
    title="Rank 1 has an extra meter, so it reduces once more than the others",
    program="classifier",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("extra_collective", "different_collective"),
    culprits=(1,),
    culprits_from_dumps=(1,),
    location=At("trainer.py", "if unlabelled:"),
    divergence=diverge(
        "extra",
        Cohort((1,), "all_reduce", At("metrics.py", "= parallel.reduce_sum(")),
        Cohort((0, 2, 3), "all_reduce", At("evaluate.py", "= parallel.reduce_sum(")),
    ),
    fault=(
        Edit(
            "shards.json",
            '"part-1", "samples": 128, "unlabelled": []',
            '"part-1", "samples": 128, "unlabelled": [[60, 62]]',
        ),
        below(
            "trainer.py",
            "            self.meters.update(loss=loss)\n",
            """            unlabelled = int((labels < 0).sum())
            if unlabelled:
                self.meters.update(unlabelled=unlabelled)
""",
        ),
    ),
    fix=(
        Edit(
            "trainer.py",
            """            if unlabelled:
                self.meters.update(unlabelled=unlabelled)
""",
            "            self.meters.update(unlabelled=unlabelled)\n",
        ),
    ),
    fix_summary="Update the same meters on every rank, with zero where there is nothing to count.",
    seen_in="https://github.com/Lightning-AI/pytorch-lightning/issues/19106",
)
