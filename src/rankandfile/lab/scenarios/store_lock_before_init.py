"""One rank never reaches the rendezvous."""

from rankandfile.lab.scenario import At, Edit, Scenario, above, below, new_file

SCENARIO = Scenario(
    title="Rank 1 waits for a download before init_process_group; the others wait in it",
    program="local_sgd",
    world_size=3,
    cause="init_stuck",
    accepted_causes=("host_blocked",),
    culprits=(1,),
    location=At("prepare.py", "while not os.path.exists(marker(rank)):"),
    fault=(
        new_file(
            "prepare.py",
            '''"""Fetch the data before training; every even rank fetches for its odd neighbour too."""

import os
import time


def marker(rank):
    return os.path.join("cache", f"part{rank}.ready")


def fetch(rank):
    os.makedirs("cache", exist_ok=True)
    if rank % 2 == 0:
        with open(marker(rank), "w") as file:
            file.write("ok")
    while not os.path.exists(marker(rank)):
        time.sleep(0.2)
''',
        ),
        above("train.py", "    return args\n", '    fetch(int(os.environ["RANK"]))\n'),
        below("train.py", "import inventory\n", "from prepare import fetch\n"),
    ),
    fix=(
        Edit(
            "prepare.py",
            '        with open(marker(rank), "w") as file:\n            file.write("ok")\n',
            """        for part in (rank, rank + 1):
            with open(marker(part), "w") as file:
                file.write("ok")
""",
        ),
    ),
    fix_summary="Mark the neighbour's part as fetched too.",
    stall_s=2.5,
)
