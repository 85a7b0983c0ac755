"""The prefetch thread died of an exception; its consumer waits at the queue for ever."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Scenario, below, diverge

PREFETCH = '''"""Read batches ahead in a thread."""

import queue
import threading

END = object()


class Prefetcher:
    def __init__(self, loader, depth=2):
        self.loader = loader
        self.queue = queue.Queue(maxsize=depth)

    def __iter__(self):
        thread = threading.Thread(target=self.fill, name="prefetch", daemon=True)
        thread.start()
        while True:
            batch = self.queue.get()
            if batch is END:
                return
            yield batch

    def fill(self):
        for tokens, labels in self.loader:
            self.queue.put((tokens, self.check(labels)))
        self.queue.put(END)

    def check(self, labels):
        if int(labels.min()) < 0:
            raise ValueError(f"negative label in {labels.tolist()}")
        return labels
'''

SCENARIO = Scenario(
    title="Rank 1's prefetch thread died; its main thread waits at an empty queue",
    program="classifier",
    world_size=4,
    cause="host_blocked",
    accepted_causes=("swallowed_exception", "raised"),
    culprits=(1,),
    culprits_from_dumps=(1,),
    location=At("prefetch.py", "batch = self.queue.get()"),
    divergence=diverge(
        "absent",
        Cohort((1,)),
        Cohort((0, 2, 3), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        Edit("prefetch.py", "", PREFETCH),
        Edit(
            "shards.json",
            '"part-1", "samples": 128, "unlabelled": []',
            '"part-1", "samples": 128, "unlabelled": [[75, 76]]',
        ),
        Edit(
            "trainer.py",
            "        for tokens, labels in self.train_loader:\n",
            "        for tokens, labels in Prefetcher(self.train_loader):\n",
        ),
        below("trainer.py", "from model import Classifier\n", "from prefetch import Prefetcher\n"),
    ),
    fix=(
        Edit(
            "prefetch.py",
            '            raise ValueError(f"negative label in {labels.tolist()}")\n',
            "            labels = labels.clamp(min=-100)\n",
        ),
    ),
    fix_summary="Unlabelled samples are legal; and a failing prefetch thread must put its error into the queue.",
    evidence=Evidence(logs="tee"),
)
