"""The dtype of a reduced tensor follows the data."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 1 reduces 64-bit values, the others 32-bit ones",
    program="local_sgd",
    world_size=3,
    cause="dtype_mismatch",
    culprits=(1,),
    location=At("inventory.py", "value = torch.as_tensor(statistics[name]).reshape(-1)"),
    divergence=diverge(
        "argument",
        Cohort((1,), "all_reduce", At("inventory.py", "dist.all_reduce(value)")),
        Cohort((0, 2), "all_reduce", At("inventory.py", "dist.all_reduce(value)")),
        occurrence=2,
    ),
    fault=(
        Edit(
            "inventory.py",
            "        value = torch.tensor(statistics[name], dtype=torch.float64).reshape(-1)\n",
            "        value = torch.as_tensor(statistics[name]).reshape(-1)\n",
        ),
        Edit(
            "train.py",
            '{"distance": worker.distance(), "draws": worker.problem.draws}',
            '{"distance": worker.distance(), "draws": worker.draws()}',
        ),
        above(
            "worker.py",
            "    def distance(self):\n",
            '''    def draws(self):
        """Draws so far; workers that resumed count in floating point, as the old state file did."""
        resumed = self.problem.rank == 1
        count = self.problem.draws
        return numpy.array([count] * 8, dtype=numpy.float64 if resumed else numpy.float32)

''',
        ),
        above("worker.py", "import torch\n", "import numpy\n"),
    ),
    fix=(
        Edit(
            "inventory.py",
            "        value = torch.as_tensor(statistics[name]).reshape(-1)\n",
            "        value = torch.as_tensor(statistics[name], dtype=torch.float64).reshape(-1)\n",
        ),
    ),
    fix_summary="Pin the dtype where the tensor is made.",
    seen_in="https://github.com/modelscope/ms-swift/pull/9551",
)
