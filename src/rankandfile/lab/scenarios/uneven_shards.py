"""One shard is two batches shorter than the others."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, diverge

SCENARIO = Scenario(
    title="Rank 3 runs out of batches first and goes on to the final barrier",
    program="classifier",
    world_size=4,
    args=("--epochs", "1"),
    cause="uneven_inputs",
    accepted_causes=("early_exit",),
    culprits=(3,),
    culprits_from_dumps=(3,),
    location=At("trainer.py", "for tokens, labels in self.train_loader:"),
    divergence=diverge(
        "skipped",
        Cohort((3,), "barrier", At("parallel.py", "dist.barrier()")),
        Cohort((0, 1, 2), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(Edit("shards.json", '"part-3", "samples": 128', '"part-3", "samples": 104'),),
    fix=(
        Edit(
            "data.py",
            '    shard = SequenceShard(entry["samples"], 12',
            """    common = min(e["samples"] for e in read_manifest())
    shard = SequenceShard(common, 12""",
        ),
    ),
    fix_summary="Every rank takes as many samples as the shortest shard has.",
    seen_in="https://github.com/Lightning-AI/pytorch-lightning/issues/20404",
)
