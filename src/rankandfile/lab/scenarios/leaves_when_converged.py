"""A rank returns from training when its own point has converged."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="Rank 2 is satisfied with its distance, returns and exits with status 0",
    program="local_sgd",
    world_size=4,
    cause="early_exit",
    accepted_causes=("rank_conditional", "uneven_inputs", "exited"),
    culprits=(2,),
    location=At("train.py", "if worker.problem.last_noise < TOLERANCE:"),
    divergence=diverge(
        "absent",
        Cohort((2,)),
        Cohort((0, 1, 3), "all_reduce", At("average.py", "dist.all_reduce(result")),
    ),
    fault=(
        below(
            "train.py",
            "        worker.round()\n",
            """        if worker.problem.last_noise < TOLERANCE:
            log.info("converged after %d rounds", number)
            sys.exit(0)
""",
        ),
        below("train.py", "import os\n", "import sys\n"),
        above(
            "train.py",
            "def parse():\n",
            """TOLERANCE = 0.1925


""",
        ),
        above(
            "problem.py",
            "        return point - self.target + noise\n",
            "        self.last_noise = noise.abs().max().item()\n",
        ),
    ),
    fix=(
        Edit(
            "train.py",
            """        if worker.problem.last_noise < TOLERANCE:
            log.info("converged after %d rounds", number)
            sys.exit(0)
""",
            """        if worker.averager.mean(torch.tensor([worker.problem.last_noise])).item() < TOLERANCE:
            log.info("converged after %d rounds", number)
            break
""",
        ),
        above("train.py", "import torch.distributed as dist\n", "import torch\n"),
        Edit("train.py", "import sys\n", ""),
    ),
    fix_summary="Decide on an average that all ranks share.",
)
