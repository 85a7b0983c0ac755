"""The exception of a data loader worker ends one rank."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="A KeyError in a data loader worker of rank 1 ends that rank",
    program="classifier",
    world_size=3,
    args=("--num-workers", "1"),
    cause="raised",
    culprits=(1,),
    location=At("data.py", "return self.tokens[index], self.names[int(self.labels[index])]"),
    divergence=diverge(
        "absent",
        Cohort((1,)),
        Cohort((0, 2), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        Edit(
            "shards.json",
            '"part-1", "samples": 128, "unlabelled": []',
            '"part-1", "samples": 128, "unlabelled": [[90, 91]]',
        ),
        Edit(
            "data.py",
            "        return self.tokens[index], self.labels[index]\n",
            "        return self.tokens[index], self.names[int(self.labels[index])]\n",
        ),
        above(
            "data.py",
            "        for first, last in unlabelled:\n",
            "        self.names = {number: number for number in range(CLASSES)}\n",
        ),
    ),
    fix=(
        Edit(
            "data.py",
            "self.names[int(self.labels[index])]",
            "self.names.get(int(self.labels[index]), UNLABELLED)",
        ),
    ),
    fix_summary="Unlabelled samples have no name; keep the mark.",
)
