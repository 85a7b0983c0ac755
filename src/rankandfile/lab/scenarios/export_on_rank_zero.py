"""`full_tensor()` under a rank guard."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, diverge

SCENARIO = Scenario(
    title="Rank 0 alone gathers the sharded parameters for the export",
    program="fsdp_vlm",
    world_size=2,
    cause="rank_conditional",
    accepted_causes=("extra_collective", "different_collective"),
    culprits=(0,),
    location=At("export.py", "if dist.get_rank() == 0:"),
    divergence=diverge(
        "extra",
        Cohort((0,), "all_gather", At("sharding.py", "return tensor.full_tensor()")),
        Cohort((1,), "barrier", At("export.py", "dist.barrier()")),
    ),
    fault=(
        Edit(
            "export.py",
            """    state = {name: full(value).clone() for name, value in model.state_dict().items()}
    if dist.get_rank() == 0:
""",
            """    if dist.get_rank() == 0:
        state = {name: full(value).clone() for name, value in model.state_dict().items()}
""",
        ),
    ),
    fix_summary="Gather on all ranks, write on rank 0.",
    seen_in="https://github.com/pytorch/pytorch/issues/148756",
    in_suite=True,
)
