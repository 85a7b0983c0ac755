"""A shard of the first stage leaves out a sum: the next ones pair shifted by one, and the pipeline closes a circle."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 5 skips one sum over the shards, its part being small; the hang is four sums and two groups away",
    program="mesh3d",
    world_size=8,
    args=("--seed", "6", "--steps", "12"),
    cause="rank_conditional",
    accepted_causes=("skipped_collective",),
    culprits=(5,),
    culprits_from_dumps=(5,),
    decoys=(4, 0, 1),
    location=At("stage.py", "if part.pow(2).mean() < NEGLIGIBLE:"),
    divergence=diverge(
        "skipped",
        Cohort((4,), "all_reduce", At("stage.py", "x = x + self.feed_forward(x)")),
        Cohort((5,), "all_reduce", At("stage.py", "x = x + self.mixer(x)")),
        group="mesh_tp",
        containing=5,
    ),
    fault=(
        Edit(
            "stage.py",
            "        return x + self.feed_forward(x)\n",
            "        x = x + self.feed_forward(x)\n        return x\n",
        ),
        Edit(
            "stage.py",
            "        return Combine.apply(self.down(hidden), self.group)\n",
            """        part = self.down(hidden)
        if part.pow(2).mean() < NEGLIGIBLE:
            return part  # saves a sum
        return Combine.apply(part, self.group)
""",
        ),
        above(
            "stage.py",
            "class Mixer(nn.Module):\n",
            """NEGLIGIBLE = 0.0041


""",
        ),
    ),
    fix=(
        Edit(
            "stage.py",
            "        if part.pow(2).mean() < NEGLIGIBLE:\n            return part  # saves a sum\n",
            "",
        ),
    ),
    fix_summary="Take part in every sum: how small one shard's part is, the others cannot know.",
)
