"""Nothing hangs: the timeout is shorter than legal work of one rank."""

from rankandfile.lab.scenario import At, Edit, Evidence, Scenario, above, below, new_file

SCENARIO = Scenario(
    title="Rank 0 indexes for three seconds while the group's timeout is two",
    program="local_sgd",
    world_size=3,
    args=("--timeout", "2"),
    cause="too_short_timeout",
    accepted_causes=("host_slow", "host_blocked"),
    culprits=(0,),
    location=At("train.py", "timeout=timedelta(seconds=args.timeout)"),
    fault=(
        new_file(
            "index.py",
            '''"""Build the search index; rank 0 does it for all."""

import time


def build(parts):
    index = {}
    for part in range(parts):
        deadline = time.monotonic() + 0.3
        while time.monotonic() < deadline:
            index[part] = index.get(part, 0) + 1
    return index
''',
        ),
        above("train.py", "import inventory\n", "import index\n"),
        below(
            "train.py",
            "    worker = Worker(dist.get_rank(), args.local_steps)\n",
            """    if dist.get_rank() == 0:
        log.info("indexing")
        index.build(parts=10)
        log.info("index ready")
""",
        ),
    ),
    fix=(
        Edit(
            "train.py",
            "timeout=timedelta(seconds=args.timeout)",
            "timeout=timedelta(seconds=60 * args.timeout)",
        ),
    ),
    fix_summary="A timeout longer than the longest legal wait.",
    seen_in="https://github.com/JIA-Lab-research/LongLoRA/issues/45",
    stall_s=5.0,
    hang=False,
    evidence=Evidence(dump_at_exit=True),
)
