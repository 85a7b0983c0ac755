"""Rank 0 waits for a lock file that a forgotten process holds."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Parting, Scenario

SCENARIO = Scenario(
    name="checkpoint_lock_held",
    title="Rank 0 waits for the checkpoint lock, the others at the barrier after the save",
    program="classifier",
    world_size=4,
    cause="host_blocked",
    culprits=(0,),
    culprits_from_dumps=(0,),
    location=At("checkpoint.py", "fcntl.flock(lock, fcntl.LOCK_EX)"),
    parting=Parting(
        kind="absent",
        cohorts=(Cohort((0,)), Cohort((1, 2, 3), "barrier", At("checkpoint.py", "dist.barrier()"))),
    ),
    fault=(
        Edit("checkpoint.py", "import os\n", "import fcntl\nimport os\nimport subprocess\nimport sys\n"),
        Edit(
            "checkpoint.py",
            "        os.makedirs(self.directory, exist_ok=True)\n        target = self.path(step)\n",
            """        os.makedirs(self.directory, exist_ok=True)
        target = self.path(step)
        lock = open(os.path.join(self.directory, ".lock"), "w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not self.written:
            self.start_uploader(lock)
""",
        ),
        Edit(
            "checkpoint.py",
            "        while len(self.written) > self.keep:\n",
            """        lock.close()
        while len(self.written) > self.keep:
""",
        ),
        Edit(
            "checkpoint.py",
            "    def write(self, step, state):\n",
            '''    def start_uploader(self, lock):
        """Copies finished checkpoints to the archive in the background."""
        code = "import time; time.sleep(3600)"
        subprocess.Popen([sys.executable, "-c", code], pass_fds=[lock.fileno()])

    def write(self, step, state):
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
