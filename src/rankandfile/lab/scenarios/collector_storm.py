"""Full garbage collections over a large heap make one rank slow, but it moves."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Scenario, below, diverge, new_file

SCENARIO = Scenario(
    title="Rank 2 spends seconds in garbage collection in every round",
    program="local_sgd",
    world_size=3,
    args=("--rounds", "40"),
    cause="host_slow",
    accepted_causes=("host_blocked",),
    culprits=(2,),
    culprits_from_dumps=(2,),
    location=At("history.py", "gc.collect()"),
    divergence=diverge(
        "absent",
        Cohort((2,)),
        Cohort((0, 1), "all_reduce", At("average.py", "dist.all_reduce(result")),
    ),
    fault=(
        new_file(
            "history.py",
            '''"""Every draw that was out of the ordinary, for the report at the end."""

import gc


class Record:
    def __init__(self, value, previous):
        self.value = value
        self.previous = previous
        self.self_reference = self


class History:
    def __init__(self, limit):
        self.limit = limit
        self.records = []

    def add(self, gradient):
        value = gradient.abs().max().item()
        if value > self.limit:
            for _ in range(600_000):
                self.records.append(Record(value, self.records[-1:]))
        for _ in range(8 * len(self.records) // 600_000):
            gc.collect()
''',
        ),
        below("worker.py", "from average import Averager\n", "from history import History\n"),
        below(
            "worker.py",
            "        self.local_steps = local_steps\n",
            "        self.history = History(limit=10.0)\n",
        ),
        Edit(
            "worker.py",
            "            self.momentum = 0.9 * self.momentum + self.problem.gradient(self.point)\n",
            """            self.last_gradient = self.problem.gradient(self.point)
            self.momentum = 0.9 * self.momentum + self.last_gradient
            self.history.add(self.last_gradient)
""",
        ),
    ),
    fix=(
        Edit(
            "history.py",
            """            for _ in range(600_000):
                self.records.append(Record(value, self.records[-1:]))
        for _ in range(8 * len(self.records) // 600_000):
            gc.collect()
""",
            "            self.records.append(value)\n",
        ),
        Edit("history.py", "import gc\n\n\n", ""),
    ),
    stall_s=2.0,
    evidence=Evidence(twice=True),
    fix_summary="Keep numbers instead of objects that refer to themselves, and do not force collections.",
    seen_in="https://github.com/pytorch/torchtitan/pull/148",
)
