"""Early stopping decided by each rank from its own validation loss."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, diverge

SCENARIO = Scenario(
    title="Early stopping looks at the rank's own validation loss; rank 2 leaves the loop an epoch early",
    program="classifier",
    world_size=4,
    args=("--epochs", "8", "--patience", "2", "--learning-rate", "0.1", "--seed", "2"),
    cause="rank_conditional",
    accepted_causes=("early_exit", "skipped_collective"),
    culprits=(2,),
    culprits_from_dumps=(2,),
    location=At("trainer.py", "if self.out_of_patience():"),
    divergence=diverge(
        "skipped",
        Cohort((2,), "barrier", At("parallel.py", "dist.barrier()")),
        Cohort((0, 1, 3), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        Edit(
            "evaluate.py",
            """    loss, correct, seen = parallel.reduce_sum([loss, correct, seen])
    return {"loss": loss / seen, "accuracy": correct / seen}
""",
            """    local = {"loss": loss / seen}
    loss, correct, seen = parallel.reduce_sum([loss, correct, seen])
    return {"loss": loss / seen, "accuracy": correct / seen, "local_loss": local["loss"]}
""",
        ),
        Edit(
            "trainer.py",
            """        if result["loss"] < self.best - 1e-4:
            self.best, self.bad_rounds = result["loss"], 0
""",
            """        if result["local_loss"] < self.best - 1e-4:
            self.best, self.bad_rounds = result["local_loss"], 0
""",
        ),
    ),
    fix=(Edit("trainer.py", "if self.out_of_patience():", "if parallel.any_rank(self.out_of_patience()):"),),
    fix_summary="All ranks agree to stop: reduce the flag with MAX before acting on it.",
    seen_in="https://github.com/Lightning-AI/pytorch-lightning/pull/2467",
    in_suite=True,
)
