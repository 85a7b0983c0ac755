"""Rank 0 waits for a lock file that a forgotten process holds."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="Rank 0 waits for the checkpoint lock, the others at the barrier after the save",
    program="classifier",
    world_size=4,
    cause="host_blocked",
    culprits=(0,),
    culprits_from_dumps=(0,),
    location=At("checkpoint.py", "fcntl.flock(lock, fcntl.LOCK_EX)"),
    divergence=diverge(
        "absent",
        Cohort((0,)),
        Cohort((1, 2, 3), "barrier", At("checkpoint.py", "dist.barrier()")),
    ),
    fault=(
        Edit("checkpoint.py", "import os\n", "import fcntl\nimport os\nimport subprocess\nimport sys\n"),
        below(
            "checkpoint.py",
            "        target = self.path(step)\n",
            """        lock = open(os.path.join(self.directory, ".lock"), "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not self.written:
            self.start_uploader(lock)
""",
        ),
        above("checkpoint.py", "        while len(self.written) > self.keep:\n", "        lock.close()\n"),
        above(
            "checkpoint.py",
            "    def write(self, step, state):\n",
            '''    def start_uploader(self, lock):
        """Copies finished checkpoints to the archive in the background."""
        code = "import time; time.sleep(3600)"
        subprocess.Popen([sys.executable, "-c", code], pass_fds=[lock.fileno()])

''',
        ),
    ),
    fix=(
        Edit(
            "checkpoint.py",
            """        subprocess.Popen([sys.executable, "-c", code], pass_fds=[lock.fileno()])
""",
            """        subprocess.Popen([sys.executable, "-c", code])
""",
        ),
    ),
    fix_summary="Do not hand the lock's descriptor to the uploader: it keeps the lock as long as it lives.",
    args=("--save-every", "8"),
    evidence=Evidence(twice=True),
    in_suite=True,
)
