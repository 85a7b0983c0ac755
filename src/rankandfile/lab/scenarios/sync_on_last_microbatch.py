"""Gradients are synchronised on the last micro-batch, which a rank with fewer of them never reaches."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 3's shard ends inside an accumulation window: its last backward is not synchronised",
    program="classifier",
    world_size=4,
    args=("--epochs", "1", "--log-every", "100", "--eval-every", "100", "--save-every", "100"),
    cause="uneven_inputs",
    accepted_causes=("rank_conditional", "skipped_collective"),
    culprits=(3,),
    culprits_from_dumps=(3,),
    location=At("trainer.py", "for tokens, labels in self.train_loader:"),
    divergence=diverge(
        "skipped",
        Cohort((3,), "barrier", At("parallel.py", "dist.barrier()")),
        Cohort((0, 1, 2), "all_reduce", At("trainer.py", "        loss.backward()")),
    ),
    fault=(
        Edit("shards.json", '"part-3", "samples": 128', '"part-3", "samples": 120'),
        above(
            "trainer.py",
            "        loss.backward()\n",
            """        if (self.step + 1) % ACCUMULATE:
            with self.model.no_sync():
                accumulate(loss)
            return loss.item()
""",
        ),
        above(
            "trainer.py",
            "class Trainer:",
            """ACCUMULATE = 4


def accumulate(loss):
    torch.autograd.backward(loss)


""",
        ),
        Edit(
            "trainer.py",
            "DistributedDataParallel(Classifier())",
            "DistributedDataParallel(Classifier(), broadcast_buffers=False)",
        ),
    ),
    fix=(
        Edit(
            "data.py",
            '    shard = SequenceShard(entry["samples"], 12',
            """    common = min(e["samples"] for e in read_manifest())
    shard = SequenceShard(common, 12""",
        ),
    ),
    fix_summary="Give all ranks the same number of batches.",
    seen_in="https://github.com/huggingface/picotron/pull/5",
)
