"""A background thread raises while it holds a lock that the main thread needs."""

from rankandfile.lab.scenario import At, Cohort, Edit, Parting, Scenario

SCENARIO = Scenario(
    name="lock_held_by_dead_thread",
    title="Rank 2 waits for a lock that its background thread took and never gave back",
    program="local_sgd",
    world_size=3,
    cause="host_blocked",
    accepted_causes=("swallowed_exception", "raised"),
    culprits=(2,),
    culprits_from_dumps=(2,),
    location=At("journal.py", "1.0 / self.outliers(total)", condition="self.outliers(total) is 0"),
    parting=Parting(
        kind="absent",
        cohorts=(Cohort((2,)), Cohort((0, 1), "all_reduce", At("inventory.py", "dist.all_reduce(value)"))),
    ),
    fault=(
        Edit(
            "journal.py",
            "",
            '''"""Keep a journal of distances; a thread writes it out."""

import threading


class Journal:
    def __init__(self):
        self.lock = threading.Lock()
        self.lines = []

    def add(self, value):
        self.lock.acquire()
        self.lines.append(f"{value:.6f}")
        self.lock.release()
        if len(self.lines) == 9:
            threading.Thread(target=self.flush, name="journal", daemon=True).start()

    def flush(self):
        self.lock.acquire()
        total = sum(float(line) for line in self.lines)
        self.lines = [f"{1.0 / self.outliers(total):.6f}"]
        self.lock.release()

    def outliers(self, total):
        return int(total < LIMIT)


LIMIT = 24.0
''',
        ),
        Edit(
            "worker.py",
            "from average import Averager\n",
            "from average import Averager\nfrom journal import Journal\n",
        ),
        Edit(
            "worker.py",
            "        self.local_steps = local_steps\n",
            "        self.local_steps = local_steps\n        self.journal = Journal()\n",
        ),
        Edit(
            "worker.py",
            "        self.momentum = momentum\n",
            """        self.momentum = momentum
        self.journal.add(self.problem.rank + self.distance())
""",
        ),
    ),
    fix=(Edit("journal.py", "1.0 / self.outliers(total)", "total / len(self.lines)"),),
    fix_summary="Hold locks with a with statement, so that an exception gives them back.",
)
