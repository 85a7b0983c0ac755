"""Iteration over a set whose order differs by rank."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Statistics are summed in the order of a local ranking, which differs on rank 1",
    program="local_sgd",
    world_size=3,
    cause="rank_conditional",
    accepted_causes=("size_mismatch", "different_collective", "order_inversion"),
    culprits=(1,),
    culprits_from_dumps=(1,),
    location=At("inventory.py", "for name in sorted(statistics, key=weight, reverse=True):"),
    divergence=diverge(
        "swapped",
        Cohort((1,), "all_reduce", At("inventory.py", "sum_scalar(statistics[name])")),
        Cohort((0, 2), "all_reduce", At("inventory.py", "sum_vector(statistics[name])")),
        occurrence=1,
    ),
    fault=(
        Edit(
            "inventory.py",
            """    result = {}
    for name in sorted(statistics):
        value = torch.tensor(statistics[name], dtype=torch.float64).reshape(-1)
        dist.all_reduce(value)
        result[name] = value.tolist()
    return result
""",
            """    def weight(name):
        value = statistics[name]
        return max(value) if isinstance(value, list) else value

    result = {}
    # Heavy statistics first, so that the log shows what matters even when it is cut off.
    for name in sorted(statistics, key=weight, reverse=True):
        if isinstance(statistics[name], list):
            result[name] = sum_vector(statistics[name])
        else:
            result[name] = sum_scalar(statistics[name])
    return result


def sum_vector(values):
    tensor = torch.tensor(values, dtype=torch.float64)
    dist.all_reduce(tensor)
    return tensor.tolist()


def sum_scalar(value):
    tensor = torch.tensor([value], dtype=torch.float64)
    dist.all_reduce(tensor)
    return tensor.item()
""",
        ),
        Edit(
            "train.py",
            '"draws": worker.problem.draws}',
            '"spread": worker.spread()}',
        ),
        above(
            "worker.py",
            "    def distance(self):\n",
            '''    def spread(self):
        """How often the largest coordinates were hit, scaled by the worker's speed."""
        return [SPEED[self.problem.rank] * 2.0, 0.0, 0.0, 0.0]

''',
        ),
        above(
            "worker.py",
            "class Worker:",
            """SPEED = (40.0, 0.01, 55.0)


""",
        ),
    ),
    fix=(
        Edit("inventory.py", "sorted(statistics, key=weight, reverse=True)", "sorted(statistics)"),
        Edit(
            "inventory.py",
            """    def weight(name):
        value = statistics[name]
        return max(value) if isinstance(value, list) else value

""",
            "",
        ),
    ),
    fix_summary="Order by name, which is the same everywhere, never by a local value.",
    seen_in="https://github.com/NVIDIA/nvalchemi-toolkit/pull/143",
)
