"""One rank reads its data from slow storage: it moves, at a fraction of the others' pace."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Scenario, below, diverge, new_file

SCENARIO = Scenario(
    title="Rank 1 needs four seconds to read each block of data",
    program="local_sgd",
    world_size=3,
    args=("--rounds", "12"),
    cause="host_slow",
    accepted_causes=("host_blocked",),
    culprits=(1,),
    # It was four seconds late in every round: dumps of the next wait show nothing that the job had not survived.
    culprits_from_dumps=(),
    location=At("storage.py", "time.sleep(0.1)"),
    divergence=diverge(
        "absent",
        Cohort((1,)),
        Cohort((0, 2), "all_reduce", At("average.py", "dist.all_reduce(result")),
    ),
    fault=(
        new_file(
            "storage.py",
            '''"""Blocks of data from a mounted bucket with a rate limit for each client."""

import logging
import time

log = logging.getLogger("storage")
TOKENS_PER_SECOND = {1: 1.0}


class Bucket:
    def __init__(self, rank):
        self.rate = TOKENS_PER_SECOND.get(rank, 1000.0)
        self.tokens = 12.0
        self.last = time.monotonic()

    def read_block(self, number):
        begun = time.monotonic()
        while self.tokens < 4.0:
            time.sleep(0.1)
            now = time.monotonic()
            self.tokens += (now - self.last) * self.rate
            self.last = now
        self.tokens -= 4.0
        self.last = time.monotonic()
        log.info("block %d read in %.2f s", number, self.last - begun)
''',
        ),
        below("train.py", "import inventory\n", "from storage import Bucket\n"),
        Edit(
            "train.py",
            "    for number in range(1, args.rounds + 1):\n",
            """    bucket = Bucket(dist.get_rank())
    for number in range(1, args.rounds + 1):
        bucket.read_block(number)
""",
        ),
    ),
    fix=(Edit("storage.py", "TOKENS_PER_SECOND = {1: 1.0}", "TOKENS_PER_SECOND = {1: 1000.0}"),),
    stall_s=1.5,
    evidence=Evidence(twice=True),
    fix_summary="Give every client the same rate, or read ahead.",
)
