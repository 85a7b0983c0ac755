"""Vectors of different length are gathered without padding."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 2 contributes a longer vector to an all_gather than the others",
    program="local_sgd",
    world_size=3,
    cause="size_mismatch",
    culprits=(2,),
    location=At("inventory.py", "mine = torch.tensor(values)"),
    divergence=diverge(
        "argument",
        Cohort((2,), "all_gather", At("inventory.py", "dist.all_gather(parts, mine)")),
        Cohort((0, 1), "all_gather", At("inventory.py", "dist.all_gather(parts, mine)")),
    ),
    fault=(
        above(
            "inventory.py",
            "def best_worker(score):\n",
            '''def collect(values):
    """The list of every worker."""
    mine = torch.tensor(values)
    parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, mine)
    return parts


''',
        ),
        above(
            "train.py",
            "    owner = inventory.best_worker(worker.distance())\n",
            "    outliers = inventory.collect(worker.outliers())\n",
        ),
        Edit(
            "train.py",
            'totals %s, best worker %d", number, totals, owner)',
            'totals %s, best worker %d, outliers of %d", number, totals, owner, len(outliers))',
        ),
        above(
            "worker.py",
            "    def distance(self):\n",
            '''    def outliers(self):
        """The largest coordinates of the momentum; at least one."""
        large = self.momentum[self.momentum.abs() > 3.0].tolist()
        return [0.0] + large

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
