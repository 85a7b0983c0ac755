"""Training succeeded; a thread keeps one process alive."""

from rankandfile.lab.scenario import At, Edit, Scenario, above, below, new_file

SCENARIO = Scenario(
    title="Training is over and successful, but rank 0's upload thread never ends",
    program="local_sgd",
    world_size=3,
    args=("--rounds", "10"),
    cause="teardown_only",
    accepted_causes=("host_blocked",),
    culprits=(0,),
    location=At("upload.py", "self.tasks.get()"),
    fault=(
        new_file(
            "upload.py",
            '''"""Upload the result in the background."""

import queue
import threading


class Uploader:
    def __init__(self):
        self.tasks = queue.Queue()
        self.done = []
        self.thread = threading.Thread(target=self.work, name="upload")
        self.thread.start()

    def submit(self, item):
        self.tasks.put(item)

    def work(self):
        while True:
            item = self.tasks.get()
            if item is None:
                return
            self.done.append(item)
''',
        ),
        below("train.py", "import inventory\n", "from upload import Uploader\n"),
        above(
            "train.py",
            "    dist.barrier()\n",
            "    if dist.get_rank() == 0:\n        Uploader().submit(worker.point)\n",
        ),
    ),
    fix=(Edit("upload.py", 'name="upload")', 'name="upload", daemon=True)'),),
    fix_summary="Make the thread a daemon, or send it the end mark and join it.",
    hold_sockets=False,
)
