"""A regular expression with exponential backtracking: minutes in C, with the GIL held."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

CLEANING = '''"""Clean the notes that come with a shard."""

import re

HEADER = re.compile(r"^(\\\\w+\\\\s?)*:$")


def is_header(line):
    return HEADER.match(line) is not None


def count_headers(lines):
    return sum(is_header(line) for line in lines)
'''.replace("\\\\", "\\")

SCENARIO = Scenario(
    title="Rank 3 is inside a regular expression that backtracks for ever, with the GIL held",
    program="classifier",
    world_size=4,
    cause="host_blocked",
    culprits=(3,),
    location=At("cleaning.py", "return HEADER.match(line) is not None"),
    divergence=diverge(
        "absent",
        Cohort((3,)),
        Cohort((0, 1, 2), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        Edit("cleaning.py", "", CLEANING),
        Edit(
            "shards.json",
            '"part-3", "samples": 128',
            '"part-3", "notes": ["word " , "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"], "samples": 128',
        ),
        below("trainer.py", "            self.run_epoch()\n", "            self.read_notes()\n"),
        above(
            "trainer.py",
            "    def train_step(self, tokens, labels):\n",
            """    def read_notes(self):
        notes = read_manifest()[parallel.rank()].get("notes", ())
        log.info("notes of the shard have %d headers", count_headers(notes))

""",
        ),
        Edit(
            "trainer.py",
            "from data import training_loader, validation_loader\n",
            """from cleaning import count_headers
from data import read_manifest, training_loader, validation_loader
""",
        ),
    ),
    fix=(
        Edit(
            "cleaning.py",
            "    return HEADER.match(line) is not None\n",
            '    return line.endswith(":") and line[:-1].replace(" ", "").isalnum()\n',
        ),
    ),
    fix_summary="Match the header without nested repetition.",
)
