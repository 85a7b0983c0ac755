"""A property that broadcasts, read under a rank guard."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="Rank 0 alone reads run_directory, a property that broadcasts",
    program="classifier",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("extra_collective",),
    culprits=(0,),
    culprits_from_dumps=(0,),
    location=At("trainer.py", "if parallel.is_main():"),
    divergence=diverge(
        "extra",
        Cohort((0,), "broadcast", At("trainer.py", "dist.broadcast_object_list(box, src=0)")),
        Cohort((1, 2, 3), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        below(
            "trainer.py",
            '            log.info("epoch %d begins", epoch)\n',
            """            if parallel.is_main():
                log.info("writing to %s", self.run_directory)
""",
        ),
        above(
            "trainer.py",
            "    def run_epoch(self):\n",
            '''    @property
    def run_directory(self):
        """The directory of this run, named by rank 0's clock."""
        box = [f"{self.config.output}/{time.strftime('%H%M%S')}"]
        dist.broadcast_object_list(box, src=0)
        return box[0]

''',
        ),
        below("trainer.py", "import torch\n", "import torch.distributed as dist\n"),
    ),
    fix=(
        Edit(
            "trainer.py",
            """            if parallel.is_main():
                log.info("writing to %s", self.run_directory)
""",
            """            directory = self.run_directory
            if parallel.is_main():
                log.info("writing to %s", directory)
""",
        ),
    ),
    fix_summary="Read the property on every rank.",
    seen_in="https://github.com/Lightning-AI/pytorch-lightning/issues/18148",
)
