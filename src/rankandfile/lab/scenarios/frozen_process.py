"""One process is stopped, as by a debugger, a frozen cgroup or a suspended machine."""

from rankandfile.lab.scenario import Scenario, Strike

SCENARIO = Scenario(
    title="Rank 1 is stopped (SIGSTOP) and answers nobody",
    program="classifier",
    world_size=4,
    args=("--epochs", "40", "--patience", "1000"),
    cause="host_blocked",
    accepted_causes=("peer_unreachable",),
    culprits=(1,),
    strikes=(Strike(1, "SIGSTOP", 70),),
    fix_summary="Nothing to change in the code: resume the process, and find out who stopped it.",
)
