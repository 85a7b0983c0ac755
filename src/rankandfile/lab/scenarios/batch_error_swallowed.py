"""`except RuntimeError: continue` around the step."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 2 swallows an exception from a bad batch and goes on with the next one",
    program="classifier",
    world_size=4,
    args=("--log-every", "100", "--eval-every", "100", "--save-every", "100"),
    cause="swallowed_exception",
    accepted_causes=("skipped_collective",),
    culprits=(2,),
    culprits_from_dumps=(2,),
    location=At("trainer.py", "except ValueError as error:"),
    divergence=diverge(
        "skipped",
        Cohort((2,), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
        Cohort((0, 1, 3), "all_reduce", At("trainer.py", "loss.backward()")),
    ),
    fault=(
        Edit(
            "shards.json",
            '"part-2", "samples": 128, "unlabelled": []',
            '"part-2", "samples": 128, "unlabelled": [[72, 80]]',
        ),
        Edit(
            "trainer.py",
            "            loss = self.train_step(tokens, labels)\n            self.step += 1\n",
            """            self.step += 1
            try:
                loss = self.train_step(tokens, labels)
            except ValueError as error:
                log.warning("step %d: bad batch (%s), going on", self.step, error)
                continue
""",
        ),
        above(
            "trainer.py",
            "        loss.backward()\n",
            """        if not torch.isfinite(loss):
            raise ValueError("no labelled sample")
""",
        ),
    ),
    fix=(
        Edit(
            "trainer.py",
            """        if not torch.isfinite(loss):
            raise ValueError("no labelled sample")
""",
            """        if parallel.any_rank(not torch.isfinite(loss)):
            raise ValueError("a rank has no labelled sample")
""",
        ),
    ),
    fix_summary="Decide on all ranks together that the batch is bad, before any of them raises.",
    seen_in="https://github.com/NVIDIA-NeMo/Automodel/pull/2468",
    in_suite=True,
)
