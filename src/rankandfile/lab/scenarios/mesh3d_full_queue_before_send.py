"""A rank waits for room in a queue that nobody empties any more, just before it hands on its activations."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, below, diverge, new_file

SCENARIO = Scenario(
    title="Rank 1 blocks on a full queue before a send: its shard, its stage, its replica and the world wait",
    program="mesh3d",
    world_size=8,
    cause="host_blocked",
    culprits=(1,),
    culprits_from_dumps=(1,),
    decoys=(0, 3, 5),
    location=At("recorder.py", "self.queue.put((step, x.abs().mean().item()))"),
    divergence=diverge(
        "absent",
        Cohort((1,)),
        Cohort((0,), "all_reduce", At("stage.py", "x = x + self.mixer(x)")),
        group="mesh_tp",
        containing=1,
    ),
    fault=(
        new_file(
            "recorder.py",
            '''"""Keep the size of every activation that leaves a shard, written by a thread."""

import logging
import os
import queue
import threading

log = logging.getLogger("recorder")


class Recorder:
    def __init__(self, rank, directory="activations"):
        self.rank, self.directory = rank, directory
        self.queue = queue.Queue(maxsize=15)
        threading.Thread(target=self._write, name="recorder", daemon=True).start()

    def add(self, step, x):
        self.queue.put((step, x.abs().mean().item()))

    def _write(self):
        try:
            while True:
                step, value = self.queue.get()
                folder = os.path.join(self.directory, f"shard{self.rank % 2}")
                os.makedirs(folder, exist_ok=True)
                with open(os.path.join(folder, f"rank{self.rank}.csv"), "a") as file:
                    file.write(f"{step},{value}\\n")
        except OSError as error:
            log.warning("no activations any more: %s", error)
''',
        ),
        # What an earlier job of another layout has left in the shared folder.
        new_file("activations/shard1/rank1.csv/README", "One folder per rank.\n"),
        below("train.py", "import settings\n", "from recorder import Recorder\n"),
        below(
            "train.py",
            "    link = Link(layout, (args.samples, args.width))\n",
            "    link.recorder = Recorder(layout.rank)\n",
        ),
        below(
            "transfer.py",
            "    def send_activation(self, x):\n",
            "        self.recorder.add(len(self.sent), x)\n",
        ),
    ),
    fix=(
        Edit(
            "recorder.py",
            "        self.queue.put((step, x.abs().mean().item()))\n",
            """        try:
            self.queue.put_nowait((step, x.abs().mean().item()))
        except queue.Full:
            pass  # a curve may have gaps
""",
        ),
    ),
    fix_summary="What only watches the training never makes it wait: drop the value when the queue is full.",
)
