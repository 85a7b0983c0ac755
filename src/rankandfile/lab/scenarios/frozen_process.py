"""One process is stopped, as by a debugger, a frozen cgroup or a suspended machine."""

from rankandfile.lab.scenario import Parting, Scenario, Strike

SCENARIO = Scenario(
    name="frozen_process",
    title="Rank 1 is stopped (SIGSTOP) and answers nobody",
    program="classifier",
    world_size=4,
    args=("--epochs", "40", "--patience", "1000"),
    cause="host_blocked",
    accepted_causes=("peer_unreachable",),
    culprits=(1,),
    location=None,
    parting=Parting(kind="none", cohorts=()),
    fault=(),
    strikes=(Strike(1, "SIGSTOP", 70),),
    fix_summary="Nothing to change in the code: resume the process, and find out who stopped it.",
)
