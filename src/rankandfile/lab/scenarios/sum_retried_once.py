"""A retry repeats a reduction on one rank: same op, same size, hundreds of calls before the end."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 2 repeats one reduction at step 3; all later reductions are shifted by one until training ends",
    program="local_sgd",
    world_size=3,
    args=("--rounds", "120"),
    cause="extra_collective",
    accepted_causes=("rank_conditional",),
    culprits=(2,),
    culprits_from_dumps=(2,),
    cause_from_dumps="extra_collective",
    location=At("average.py", "if drift > LIMIT:"),
    divergence=diverge(
        "extra",
        Cohort((2,), "all_reduce", At("average.py", "return self.repeat(vector)")),
        Cohort((0, 1), "all_reduce", At("worker.py", "momentum = self.averager.mean(self.momentum)")),
    ),
    fault=(
        Edit(
            "average.py",
            "        return result\n",
            """        drift = (result - vector).abs().max().item()
        if drift > LIMIT:
            log.warning("drift of %.3f, averaging once more", drift)
            return self.repeat(vector)
        return result

    def repeat(self, vector):
        result = vector.clone()
        dist.all_reduce(result, group=self.group)
        return result / self.size
""",
        ),
        above(
            "average.py",
            "class Averager:",
            """LIMIT = 2.0


""",
        ),
    ),
    fix=(
        Edit(
            "average.py",
            """        drift = (result - vector).abs().max().item()
        if drift > LIMIT:
            log.warning("drift of %.3f, averaging once more", drift)
            return self.repeat(vector)
""",
            "",
        ),
    ),
    fix_summary="Never repeat a collective on one rank's own judgement.",
)
