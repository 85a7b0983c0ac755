"""A guard against NaN raises on the one rank that sees it."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 1 raises on a NaN loss and leaves; the others wait for its gradients",
    program="classifier",
    world_size=4,
    cause="raised",
    accepted_causes=("rank_conditional",),
    culprits=(1,),
    location=At("trainer.py", "if torch.isnan(loss):"),
    divergence=diverge(
        "absent",
        Cohort((1,)),
        Cohort((0, 2, 3), "all_reduce", At("trainer.py", "loss.backward()")),
    ),
    fault=(
        Edit(
            "shards.json",
            '"part-1", "samples": 128, "unlabelled": []',
            '"part-1", "samples": 128, "unlabelled": [[40, 48]]',
        ),
        above(
            "trainer.py",
            "        loss.backward()\n",
            """        if torch.isnan(loss):
            raise FloatingPointError(f"loss is NaN at step {self.step}")
""",
        ),
    ),
    fix=(
        Edit(
            "trainer.py",
            """        if torch.isnan(loss):
            raise FloatingPointError(f"loss is NaN at step {self.step}")
""",
            """        if parallel.any_rank(torch.isnan(loss)):
            log.warning("step %d: a rank has a NaN loss, all skip the batch", self.step)
            return 0.0
""",
        ),
    ),
    fix_summary="Agree on the bad batch first, then all ranks do the same about it.",
    seen_in="https://github.com/ai2cm/ace/pull/850",
    in_suite=True,
)
