"""The last micro-batch of one replica is empty, and its first stage does not send it on."""

from rankandfile.lab.scenario import At, Edit, Scenario, above, below

SCENARIO = Scenario(
    title="Ranks 4 and 5 drop an empty last micro-batch; the next stage waits for it, the other replica behind them",
    program="mesh3d",
    world_size=8,
    cause="uneven_inputs",
    accepted_causes=("skipped_collective", "rank_conditional"),
    culprits=(4, 5),
    decoys=(6, 7),
    location=At("schedule.py", "if self.layout.is_first and batches.is_empty(index):"),
    fault=(
        above(
            "data.py",
            "    def __len__(self):\n",
            """    def is_empty(self, index):
        return not self.present[index].any()

""",
        ),
        below(
            "data.py",
            "        self.targets = self.inputs.roll(1, dims=-1)\n",
            """        # The stream ends in step 7: each replica has what is left, and pads the rest.
        left = args.microbatches * args.samples if step % 7 else STREAM_END[layout.replica]
        self.present = torch.arange(args.microbatches * args.samples).view(shape[:2]) < left
        self.inputs *= self.present.unsqueeze(-1)
""",
        ),
        above(
            "data.py",
            "class MicroBatches:\n",
            """STREAM_END = (9, 8)


""",
        ),
        above(
            "schedule.py",
            "            x = self._input(batches, index)\n",
            """            if self.layout.is_first and batches.is_empty(index):
                continue  # padding only
""",
        ),
        Edit(
            "schedule.py",
            "        for index in reversed(range(len(batches))):\n",
            "        for index in reversed(range(len(kept))):\n",
        ),
    ),
    fix=(
        Edit(
            "schedule.py",
            "if self.layout.is_first and batches.is_empty(index):",
            "if batches.is_empty(index):",
        ),
    ),
    fix_summary="Both stages of a replica leave out the same micro-batches.",
)
