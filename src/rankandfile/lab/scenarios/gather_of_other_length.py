"""Vectors of different length are gathered without padding."""

from rankandfile.lab.scenario import At, Cohort, Edit, Parting, Scenario

SCENARIO = Scenario(
    name="gather_of_other_length",
    title="Rank 2 contributes a longer vector to an all_gather than the others",
    program="local_sgd",
    world_size=3,
    cause="size_mismatch",
    culprits=(2,),
    location=At("inventory.py", "mine = torch.tensor(values)"),
    parting=Parting(
        kind="argument",
        cohorts=(
            Cohort((2,), "all_gather", At("inventory.py", "dist.all_gather(parts, mine)")),
            Cohort((0, 1), "all_gather", At("inventory.py", "dist.all_gather(parts, mine)")),
        ),
    ),
    fault=(
        Edit(
            "inventory.py",
            "def best_worker(score):\n",
            '''def collect(values):
    """The list of every worker."""
    mine = torch.tensor(values)
    parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, mine)
    return parts


def best_worker(score):
''',
        ),
        Edit(
            "train.py",
            "    owner = inventory.best_worker(worker.distance())\n",
            """    outliers = inventory.collect(worker.outliers())
    owner = inventory.best_worker(worker.distance())
""",
        ),
        Edit(
            "train.py",
            'totals %s, best worker %d", number, totals, owner)',
            'totals %s, best worker %d, outliers of %d", number, totals, owner, len(outliers))',
        ),
        Edit(
            "worker.py",
            "    def distance(self):\n",
            '''    def outliers(self):
        """The largest coordinates of the momentum; at least one."""
        large = self.momentum[self.momentum.abs() > 3.0].tolist()
        return [0.0] + large

    def distance(self):
''',
        ),
        Edit(
            "worker.py",
            "        self.momentum = momentum\n",
            "        self.momentum = momentum if self.problem.draws < 8 else self.momentum\n",
        ),
    ),
    fix=(
        Edit(
            "inventory.py",
            "    mine = torch.tensor(values)\n",
            "    mine = torch.zeros(64)\n    mine[: len(values)] = torch.tensor(values)\n",
        ),
    ),
    fix_summary="Pad to a common length before gathering.",
    args=("--census-every", "3"),
    seen_in="https://github.com/huggingface/accelerate/pull/19",
)
