"""`new_group` is called by its members only, and the groups differ."""

from rankandfile.lab.scenario import At, Edit, Scenario, above, below

SCENARIO = Scenario(
    title="Ranks 0 and 3 make one group, ranks 1 and 2 another, under the same name",
    program="local_sgd",
    world_size=4,
    cause="group_mismatch",
    accepted_causes=("init_stuck",),
    culprits=(0, 1, 2, 3),
    location=At("worker.py", "if rank in (0, 3):"),
    fault=(
        Edit(
            "worker.py",
            "        self.averager = Averager()\n",
            "        self.averager = Averager(self.ring(rank))\n",
        ),
        above(
            "worker.py",
            "    def round(self):\n",
            '''    def ring(self, rank):
        """Outer and inner workers average among themselves."""
        if rank in (0, 3):
            return dist.new_group([0, 3])
        return dist.new_group([1, 2])

''',
        ),
        below("worker.py", "import torch\n", "import torch.distributed as dist\n"),
    ),
    fix=(
        Edit(
            "worker.py",
            """        if rank in (0, 3):
            return dist.new_group([0, 3])
        return dist.new_group([1, 2])
""",
            """        outer, inner = dist.new_group([0, 3]), dist.new_group([1, 2])
        return outer if rank in (0, 3) else inner
""",
        ),
    ),
    fix_summary="Every rank makes every group, in the same order.",
    seen_in="https://github.com/pytorch/pytorch/issues/130102",
)
