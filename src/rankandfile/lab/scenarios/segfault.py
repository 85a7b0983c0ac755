"""A native crash."""

from rankandfile.lab.scenario import Scenario, Strike

SCENARIO = Scenario(
    title="Rank 0 dies of a segmentation fault",
    program="mesh_lm",
    world_size=4,
    args=("--steps", "60", "--save-every", "1000"),
    cause="killed",
    culprits=(0,),
    fix=(),
    strikes=(Strike(0, "SIGSEGV", 300),),
    fix_summary="Nothing to change in the code shown: look at the core file.",
)
