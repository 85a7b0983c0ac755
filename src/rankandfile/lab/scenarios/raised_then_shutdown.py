"""The exception is held back by a `finally` that tears the process group down."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 3 raises, and its `finally` waits at the shutdown barrier; its dump is never written",
    program="classifier",
    world_size=4,
    cause="raised",
    accepted_causes=("swallowed_exception", "skipped_collective"),
    culprits=(3,),
    location=At("trainer.py", "if torch.isnan(loss):"),
    divergence=diverge(
        "skipped",
        Cohort((3,), "barrier", At("parallel.py", "dist.barrier()")),
        Cohort((0, 1, 2), "all_reduce", At("trainer.py", "loss.backward()")),
    ),
    fault=(
        Edit(
            "shards.json",
            '"part-3", "samples": 128, "unlabelled": []',
            '"part-3", "samples": 128, "unlabelled": [[80, 88]]',
        ),
        above(
            "trainer.py",
            "        loss.backward()\n",
            """        if torch.isnan(loss):
            raise FloatingPointError(f"loss is NaN at step {self.step}")
""",
        ),
        Edit(
            "train.py",
            "    trainer.fit()\n    parallel.shutdown()\n",
            "    try:\n        trainer.fit()\n    finally:\n        parallel.shutdown()\n",
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
        Edit(
            "train.py",
            "    try:\n        trainer.fit()\n    finally:\n        parallel.shutdown()\n",
            "    trainer.fit()\n    parallel.shutdown()\n",
        ),
    ),
    fix_summary="Agree on the bad batch; shut down only after success.",
    evidence=Evidence(no_dump=(3,)),
    seen_in="https://github.com/pytorch/pytorch/issues/196968",
    in_suite=True,
)
