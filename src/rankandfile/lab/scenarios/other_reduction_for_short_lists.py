"""Two ways to sum, chosen by the length of the rank's own list."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 1 gathers and adds where the others reduce, because its own list is short",
    program="local_sgd",
    world_size=4,
    cause="different_collective",
    accepted_causes=("rank_conditional",),
    culprits=(1,),
    culprits_from_dumps=(1,),
    cause_from_dumps="different_collective",
    location=At("inventory.py", "if used < SHORT:"),
    divergence=diverge(
        "substituted",
        Cohort((1,), "all_gather", At("inventory.py", "dist.all_gather(parts, value)")),
        Cohort((0, 2, 3), "all_reduce", At("inventory.py", "dist.all_reduce(value)")),
    ),
    fault=(
        Edit(
            "inventory.py",
            """        dist.all_reduce(value)
        result[name] = value.tolist()
    return result
""",
            '''        result[name] = sum_over_workers(value).tolist()
    return result


def sum_over_workers(value):
    """Short lists are gathered and added in a fixed order, so that the result is exact."""
    used = int(value.count_nonzero())
    if used < SHORT:
        parts = [torch.empty_like(value) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, value)
        return torch.stack(parts).sum(dim=0)
    dist.all_reduce(value)
    return value
''',
        ),
        above(
            "inventory.py",
            "def total(",
            """SHORT = 3


""",
        ),
        Edit(
            "train.py",
            '{"distance": worker.distance(), "draws": worker.problem.draws}',
            '{"hits": worker.hits()}',
        ),
        above(
            "worker.py",
            "    def distance(self):\n",
            '''    def hits(self):
        """Which of the watched coordinates this worker's shard has hit; shard 1 is the smallest."""
        watched = [4, 3, 5, 1]
        reach = {1: 2}.get(self.problem.rank, 4)
        return watched[:reach] + [0] * (4 - reach)

''',
        ),
    ),
    fix=(
        Edit(
            "inventory.py",
            "    used = int(value.count_nonzero())\n    if used < SHORT:\n",
            "    if len(value) < SHORT:\n",
        ),
    ),
    fix_summary="Choose by something that is the same on all ranks, such as the length of the tensor.",
)
