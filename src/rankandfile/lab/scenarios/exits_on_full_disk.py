"""A rank leaves with an exit status of its own."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge, new_file

SCENARIO = Scenario(
    title="Rank 1 finds its disk full and leaves with status 28",
    program="local_sgd",
    world_size=3,
    cause="exited",
    accepted_causes=("early_exit", "rank_conditional"),
    culprits=(1,),
    location=At("disk.py", "if free_blocks(rank) < needed:"),
    divergence=diverge(
        "absent",
        Cohort((1,)),
        Cohort((0, 2), "all_reduce", At("average.py", "dist.all_reduce(result")),
    ),
    fault=(
        new_file(
            "disk.py",
            '''"""Look at the scratch disk from time to time."""

import sys

QUOTA = {0: 900, 1: 70, 2: 850}


def free_blocks(rank):
    return QUOTA.get(rank, 1000)


def check(rank, needed):
    if free_blocks(rank) < needed:
        sys.exit(28)
''',
        ),
        above("train.py", "import inventory\n", "import disk\n"),
        below(
            "train.py", "        worker.round()\n", "        disk.check(dist.get_rank(), needed=5 * number)\n"
        ),
    ),
    fix=(
        Edit(
            "disk.py",
            "        sys.exit(28)\n",
            '        print(f"rank {rank}: scratch disk nearly full", file=sys.stderr)\n',
        ),
    ),
    fix_summary="Warn, and let all ranks decide together to stop.",
)
