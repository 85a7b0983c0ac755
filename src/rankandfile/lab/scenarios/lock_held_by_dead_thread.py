"""A background thread raises while it holds a lock that the main thread needs."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, below, diverge, new_file

SCENARIO = Scenario(
    title="Rank 2 waits for a lock that its background thread took and never gave back",
    program="local_sgd",
    world_size=3,
    cause="host_blocked",
    accepted_causes=("swallowed_exception", "raised"),
    culprits=(2,),
    culprits_from_dumps=(2,),
    location=At("journal.py", "1.0 / self.outliers(total)", condition="self.outliers(total) is 0"),
    divergence=diverge(
        "absent",
        Cohort((2,)),
        Cohort((0, 1), "all_reduce", At("inventory.py", "dist.all_reduce(value)")),
    ),
    fault=(
        new_file(
            "journal.py",
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
        below("worker.py", "from average import Averager\n", "from journal import Journal\n"),
        below("worker.py", "        self.local_steps = local_steps\n", "        self.journal = Journal()\n"),
        below(
            "worker.py",
            "        self.momentum = momentum\n",
            "        self.journal.add(self.problem.rank + self.distance())\n",
        ),
    ),
    fix=(Edit("journal.py", "1.0 / self.outliers(total)", "total / len(self.lines)"),),
    fix_summary="Hold locks with a with statement, so that an exception gives them back.",
)
