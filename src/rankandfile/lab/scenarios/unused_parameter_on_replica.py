"""A parameter without a gradient is left out of the reduction on one replica only."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 1's stage leaves a branch out and reduces fewer gradients than its replica",
    program="pipeline",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("skipped_collective",),
    culprits=(1,),
    location=At("train.py", "if parameter.grad is not None:"),
    divergence=diverge(
        "skipped",
        Cohort((1,), "all_reduce", At("train.py", "dist.all_reduce(parameter.grad, group=layout.dp_group)")),
        Cohort((3,), "all_reduce", At("train.py", "dist.all_reduce(parameter.grad, group=layout.dp_group)")),
        group="dp1",
        containing=1,
        occurrence=9,
    ),
    fault=(
        Edit(
            "train.py",
            """        dist.all_reduce(parameter.grad, group=layout.dp_group)
        parameter.grad /= layout.dp
""",
            """        if parameter.grad is not None:
            dist.all_reduce(parameter.grad, group=layout.dp_group)
            parameter.grad /= layout.dp
""",
        ),
        Edit(
            "stages.py",
            "    return nn.Sequential(*layers)\n",
            "    return nn.Sequential(*layers, Correction())\n",
        ),
        above(
            "stages.py",
            "def build_stage(layout):\n",
            '''class Correction(nn.Module):
    """A learnt correction for inputs with a large mean."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        if x.mean().item() > LIMIT:
            return x * self.scale
        return x


''',
        ),
        above(
            "stages.py",
            "class Batches:",
            """LIMIT = 0.0635


""",
        ),
    ),
    fix=(
        Edit(
            "train.py",
            """        if parameter.grad is not None:
            dist.all_reduce(parameter.grad, group=layout.dp_group)
            parameter.grad /= layout.dp
""",
            """        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        dist.all_reduce(parameter.grad, group=layout.dp_group)
        parameter.grad /= layout.dp
""",
        ),
    ),
    fix_summary="Reduce zeros for a parameter that was not used.",
)
