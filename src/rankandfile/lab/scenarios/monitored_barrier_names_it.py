"""A monitored barrier names the absent rank."""

from rankandfile.lab.scenario import At, Edit, Evidence, Scenario, above, new_file

SCENARIO = Scenario(
    title="Rank 2 is busy compressing; the monitored barrier of rank 0 names it",
    program="local_sgd",
    world_size=4,
    cause="host_slow",
    accepted_causes=("host_blocked", "too_short_timeout", "skipped_collective"),
    culprits=(2,),
    location=At("archive.py", "data = zlib.compress(data, 9)"),
    fault=(
        new_file(
            "archive.py",
            '''"""Compress what a worker has seen."""

import os
import zlib


def compress(rounds):
    data = os.urandom(4_000_000)
    for _ in range(rounds):
        data = zlib.compress(data, 9)
    return len(data)
''',
        ),
        above("train.py", "import inventory\n", "import archive\n"),
        above(
            "train.py",
            "    statistics = {",
            """    if number == 20:
        archive.compress(rounds=200 if worker.problem.rank == 2 else 1)
        dist.monitored_barrier(timeout=timedelta(seconds=2), wait_all_ranks=True)
""",
        ),
    ),
    fix=(Edit("train.py", "rounds=200 if worker.problem.rank == 2 else 1", "rounds=1"),),
    stall_s=4.0,
    evidence=Evidence(dump_at_exit=True),
    fix_summary="Compress the same amount everywhere, or outside the loop.",
)
