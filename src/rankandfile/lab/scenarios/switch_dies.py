"""The switch between all hosts dies in the middle of training; nobody's connection is closed."""

from rankandfile.lab.scenario import Cut, Scenario

SCENARIO = Scenario(
    title="All links go down at once: every rank has joined, no byte arrives, and no socket reports an error",
    program="classifier",
    world_size=4,
    args=("--epochs", "40", "--patience", "1000"),
    cause="network_stalled",
    culprits=(),
    cuts=(Cut(rank=0, after_calls=60, links=(0, 1, 2, 3)),),
    needs=("root", "iproute2"),
    fix_summary="Nothing to change in the code: the ranks agree on what they do; find out who took the links down.",
)
