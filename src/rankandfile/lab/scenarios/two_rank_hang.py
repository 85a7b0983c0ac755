"""The smallest hang there is, for the tutorial."""

from rankandfile.lab.scenario import At, Cohort, Evidence, Scenario, below, diverge

SCENARIO = Scenario(
    title="After three sums rank 1 sleeps, and rank 0 waits for it in a broadcast",
    program="two_rank",
    world_size=2,
    cause="host_blocked",
    culprits=(1,),
    culprits_from_dumps=(1,),
    location=At("train.py", "time.sleep(seconds)"),
    divergence=diverge(
        "absent",
        Cohort((0,), "broadcast", At("train.py", "dist.broadcast(total, src=0)")),
        Cohort((1,)),
    ),
    fault=(below("train.py", "    add_up(total)\n", "    if dist.get_rank() == 1:\n        rest(3600)\n"),),
    fix_summary="Do not let one rank rest where the others go on.",
    evidence=Evidence(twice=True),
)
