"""A step counter that a restarted rank does not share."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge, new_file

SCENARIO = Scenario(
    title="Rank 0 counts steps from its resumed state, one off from the others, and reports at other steps",
    program="moe",
    world_size=3,
    cause="rank_conditional",
    accepted_causes=("different_collective", "extra_collective", "skipped_collective"),
    culprits=(0,),
    culprits_from_dumps=(0,),
    location=At("train.py", "if clock.ticks % args.log_every == 0:"),
    divergence=diverge(
        "extra",
        Cohort((0,), "all_reduce", At("sync.py", "dist.all_reduce(load)")),
        Cohort((1, 2)),
    ),
    fault=(
        new_file(
            "clock.py",
            '''"""Counts training steps over restarts."""

import json
import os


class Clock:
    def __init__(self, rank):
        path = os.path.join(os.path.dirname(__file__), "state", f"clock{rank}.json")
        self.ticks = 0
        if os.path.exists(path):
            with open(path) as file:
                self.ticks = json.load(file)["ticks"]

    def tick(self):
        self.ticks += 1
''',
        ),
        new_file("state/clock0.json", '{"ticks": 1}\n'),
        new_file("state/clock1.json", '{"ticks": 0}\n'),
        above("train.py", "from network import Network\n", "from clock import Clock\n"),
        Edit(
            "train.py",
            "    for step in range(1, args.steps + 1):\n",
            "    clock = Clock(rank)\n    for step in range(1, args.steps + 1):\n        clock.tick()\n",
        ),
        Edit(
            "train.py",
            "        if step % args.log_every == 0:\n",
            "        if clock.ticks % args.log_every == 0:\n",
        ),
    ),
    fix=(
        Edit(
            "train.py",
            "        if clock.ticks % args.log_every == 0:\n",
            "        if step % args.log_every == 0:\n",
        ),
    ),
    fix_summary="Use the loop's own step, which all ranks share.",
)
