"""Every rank polls for a file that is only written on the first node."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Scenario, below, diverge, new_file

SCENARIO = Scenario(
    title="Ranks 2 and 3 poll for a vocabulary file that was only made on the first node",
    program="classifier",
    world_size=4,
    cause="host_blocked",
    culprits=(2, 3),
    culprits_from_dumps=(2, 3),
    location=At("prepare.py", "while not os.path.exists(path):"),
    divergence=diverge(
        "absent",
        Cohort((2, 3)),
        Cohort((0, 1), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        new_file(
            "prepare.py",
            '''"""Things that one process per node prepares for its neighbours."""

import json
import os
import time

import parallel

RANKS_PER_NODE = 2


def node_cache():
    return os.path.join("output", f"node{parallel.rank() // RANKS_PER_NODE}")


def vocabulary():
    """The first process builds the vocabulary, the others wait for the file."""
    path = os.path.join(node_cache(), "vocabulary.json")
    if parallel.is_main():
        os.makedirs(node_cache(), exist_ok=True)
        with open(path + ".tmp", "w") as file:
            json.dump({"tokens": 64}, file)
        os.replace(path + ".tmp", path)
    while not os.path.exists(path):
        time.sleep(0.25)
    with open(path) as file:
        return json.load(file)
''',
        ),
        below(
            "trainer.py",
            '            log.info("epoch %d begins", epoch)\n',
            "            self.vocabulary = prepare.vocabulary()\n",
        ),
        below("trainer.py", "import parallel\n", "import prepare\n"),
    ),
    fix=(
        Edit(
            "prepare.py",
            "    if parallel.is_main():\n",
            "    if parallel.rank() % RANKS_PER_NODE == 0:\n",
        ),
    ),
    fix_summary="One process of each node, not of the whole job, writes the node's file.",
    seen_in="https://github.com/huggingface/trl/issues/7223",
    evidence=Evidence(twice=True),
)
