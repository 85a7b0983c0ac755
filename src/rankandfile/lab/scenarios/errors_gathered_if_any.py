"""Errors are gathered, but only by the ranks that have some."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="Rank 2 has errors to gather, the others have none and do not take part",
    program="local_sgd",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("extra_collective", "different_collective"),
    culprits=(2,),
    culprits_from_dumps=(2,),
    location=At("train.py", "if errors:"),
    divergence=diverge(
        "extra",
        Cohort((2,), "all_gather", At("train.py", "dist.all_gather_object(everyone, errors)")),
        Cohort((0, 1, 3), "all_reduce", At("worker.py", "self.point = self.averager.mean(self.point)")),
    ),
    fault=(
        below(
            "train.py",
            "        worker.round()\n",
            """        errors = worker.take_errors()
        if errors:
            everyone = [None] * dist.get_world_size()
            dist.all_gather_object(everyone, errors)
            log.warning("errors so far: %s", everyone)
""",
        ),
        above(
            "worker.py",
            "    def distance(self):\n",
            '''    def take_errors(self):
        """Coordinates that moved too far since the last round."""
        return self.momentum.abs().gt(5.0).nonzero().flatten().tolist()

''',
        ),
        Edit(
            "worker.py",
            "        momentum = self.averager.mean(self.momentum)\n        self.momentum = momentum\n",
            "        self.momentum = self.momentum / 2\n",
        ),
    ),
    fix=(
        Edit(
            "train.py",
            """        if errors:
            everyone = [None] * dist.get_world_size()
            dist.all_gather_object(everyone, errors)
""",
            """        everyone = [None] * dist.get_world_size()
        dist.all_gather_object(everyone, errors)
        if any(everyone):
""",
        ),
    ),
    fix_summary="Gather on every rank, also when the list is empty.",
)
