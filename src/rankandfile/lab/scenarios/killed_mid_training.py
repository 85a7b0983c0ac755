"""The kernel kills one rank; nothing is wrong with the code."""

from rankandfile.lab.scenario import Scenario, Strike

SCENARIO = Scenario(
    title="Rank 2 is killed with SIGKILL in the middle of training",
    program="classifier",
    world_size=4,
    args=("--epochs", "40", "--patience", "1000"),
    cause="killed",
    culprits=(2,),
    strikes=(Strike(2, "SIGKILL", 60),),
    fix_summary="Nothing to change in the code: find out who killed the process (kernel log, scheduler).",
    in_suite=True,
)
