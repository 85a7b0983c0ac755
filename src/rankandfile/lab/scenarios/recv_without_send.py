"""A stage runs one micro-batch fewer than its neighbour expects."""

from rankandfile.lab.scenario import At, Edit, Scenario, above, below

SCENARIO = Scenario(
    title="Rank 2 runs three micro-batches, its successor waits for the fourth",
    program="pipeline",
    world_size=4,
    args=("--pp", "4"),
    cause="skipped_collective",
    accepted_causes=("uneven_inputs", "rank_conditional"),
    culprits=(2,),
    location=At("schedule.py", "for index in range(self.microbatches_here()):"),
    fault=(
        Edit(
            "schedule.py",
            "        for index in range(self.microbatches):\n",
            "        for index in range(self.microbatches_here()):\n",
        ),
        Edit(
            "schedule.py",
            "        for index in reversed(range(self.microbatches)):\n",
            "        for index in reversed(range(len(kept))):\n",
        ),
        above(
            "schedule.py",
            "    def run(self, batches):\n",
            '''    def microbatches_here(self):
        """The third stage is the slowest; it sheds a micro-batch when told to."""
        return self.microbatches - (1 if self.layout.stage == 2 and self.shed else 0)

''',
        ),
        below("schedule.py", "        self.link = Link(layout)\n", "        self.shed = False\n"),
        above("train.py", "        loss = pipeline.run(", "        pipeline.shed = step > 5\n"),
    ),
    fix=(
        Edit(
            "schedule.py",
            "        return self.microbatches - (1 if self.layout.stage == 2 and self.shed else 0)\n",
            "        return self.microbatches - (1 if self.shed else 0)\n",
        ),
    ),
    fix_summary="All stages of a pipeline run the same number of micro-batches.",
    in_suite=True,
)
