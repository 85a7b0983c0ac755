"""The other ranks lose their connection to the dead one and fail one after the other."""

from rankandfile.lab.scenario import Evidence, Scenario, Strike

SCENARIO = Scenario(
    title="Rank 1 is killed; its peers raise when their connections close",
    program="local_sgd",
    world_size=4,
    args=("--rounds", "600"),
    cause="killed",
    culprits=(1,),
    decoys=(0, 2, 3),
    strikes=(Strike(1, "SIGKILL", 200),),
    hold_sockets=False,
    hang=False,
    evidence=Evidence(dump_at_exit=True),
    fix_summary="Nothing to change in the code: find out who killed the process.",
)
