"""One rank is stuck on the host while another is killed."""

from rankandfile.lab.scenario import At, Edit, Scenario, Strike, above, below, new_file

SCENARIO = Scenario(
    title="Rank 1 waits for a file that never comes, and rank 3 is killed",
    program="local_sgd",
    world_size=4,
    args=("--rounds", "400"),
    cause="killed",
    accepted_causes=("host_blocked",),
    culprits=(1, 3),
    culprits_from_dumps=(1,),  # its own dump shows it outside the call; rank 3 leaves none
    location=At("gate.py", "while not os.path.exists(RELEASE):"),
    fault=(
        new_file(
            "gate.py",
            '''"""The operator can hold a worker back with a file, and release it with another."""

import os
import time

HOLD, RELEASE = "hold.{}", "release"


def wait(rank, number):
    if number == 21 and rank == 1:
        open(HOLD.format(rank), "w").close()
    if os.path.exists(HOLD.format(rank)):
        while not os.path.exists(RELEASE):
            time.sleep(0.2)
''',
        ),
        above("train.py", "import inventory\n", "import gate\n"),
        below("train.py", "        worker.round()\n", "        gate.wait(dist.get_rank(), number)\n"),
    ),
    fix=(
        Edit(
            "gate.py",
            "        while not os.path.exists(RELEASE):\n            time.sleep(0.2)\n",
            '        print(f"rank {rank}: asked to hold, not implemented")\n',
        ),
    ),
    # While it waits for rank 1, in the call after: sooner, and rank 1 would never come to its own fault.
    strikes=(Strike(3, "SIGKILL", 53),),
    fix_summary="Two things: no waiting for files inside the loop, and find out who killed rank 3.",
)
