"""`save` is collective, and only rank 0 calls it."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, diverge

SCENARIO = Scenario(
    title="Rank 0 alone enters a collective save and waits at its barrier",
    program="classifier",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("extra_collective",),
    culprits=(0,),
    culprits_from_dumps=(0,),
    location=At("trainer.py", "if parallel.is_main() and self.step % self.config.save_every == 0:"),
    divergence=diverge(
        "extra",
        Cohort((0,), "barrier", At("checkpoint.py", "dist.barrier()")),
        Cohort((1, 2, 3), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        Edit(
            "trainer.py",
            "if self.step % self.config.save_every == 0:",
            "if parallel.is_main() and self.step % self.config.save_every == 0:",
        ),
    ),
    fix_summary="Call save on every rank; the guard for writing is inside.",
    seen_in="https://github.com/deepspeedai/DeepSpeed/pull/801",
    in_suite=True,
)
