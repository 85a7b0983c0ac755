"""Each rank picks the broadcast's root from its own view."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 2 takes itself for the owner of the best point, the others take rank 0",
    program="local_sgd",
    world_size=4,
    cause="root_mismatch",
    culprits=(2,),
    location=At("inventory.py", "if score < THRESHOLD:"),
    divergence=diverge(
        "argument",
        Cohort((2,), "broadcast", At("inventory.py", "dist.broadcast(vector, src=owner)")),
        Cohort((0, 1, 3), "broadcast", At("inventory.py", "dist.broadcast(vector, src=owner)")),
    ),
    fault=(
        Edit(
            "inventory.py",
            """    scores = [None] * dist.get_world_size()
    dist.all_gather_object(scores, score)
    return scores.index(min(scores))
""",
            """    if score < THRESHOLD:
        return dist.get_rank()
    return 0
""",
        ),
        above(
            "inventory.py",
            "def total(",
            """THRESHOLD = 0.5


""",
        ),
        Edit(
            "train.py",
            "inventory.best_worker(worker.distance())",
            "inventory.best_worker(worker.local_distance())",
        ),
        above(
            "worker.py",
            "    def distance(self):\n",
            '''    def local_distance(self):
        """Distance before the last average, by this worker's own noise."""
        return self.distance() + (0.0 if self.problem.rank == 2 else 1.0)

''',
        ),
    ),
    fix=(
        Edit(
            "inventory.py",
            """    if score < THRESHOLD:
        return dist.get_rank()
    return 0
""",
            """    scores = [None] * dist.get_world_size()
    dist.all_gather_object(scores, score)
    return scores.index(min(scores))
""",
        ),
    ),
    fix_summary="Agree on the owner before the broadcast.",
    seen_in="https://github.com/lightseekorg/tokenspeed/pull/786",
)
