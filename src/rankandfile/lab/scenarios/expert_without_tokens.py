"""An expert that gets no token returns before the tokens are sent back."""

from rankandfile.lab.scenario import At, Cohort, Edit, Parting, Scenario

SCENARIO = Scenario(
    name="expert_without_tokens",
    title="The expert of rank 2 gets no token and skips the way back",
    program="moe",
    world_size=3,
    cause="rank_conditional",
    accepted_causes=("skipped_collective",),
    culprits=(2,),
    location=At("experts.py", "if tokens.shape[0] == 0:"),
    parting=Parting(
        kind="skipped",
        group="expert_parallel",
        cohorts=(
            Cohort((2,), "all_to_all", At("train.py", "loss.backward()")),
            Cohort((0, 1), "all_to_all", At("experts.py", "returned = AllToAll.apply(")),
        ),
    ),
    fault=(
        Edit(
            "experts.py",
            "        processed = self.expert(tokens)\n",
            """        if tokens.shape[0] == 0:
            return x, load
        processed = self.expert(tokens)
""",
        ),
        Edit(
            "router.py",
            "        self.experts = experts\n",
            """        self.experts = experts
        with torch.no_grad():
            self.gate.bias[-1] = -0.6
""",
        ),
    ),
    fix=(
        Edit(
            "experts.py",
            """        if tokens.shape[0] == 0:
            return x, load
""",
            "",
        ),
    ),
    fix_summary="An idle expert still takes part in both exchanges, with nothing to send.",
    seen_in="https://github.com/vllm-project/vllm/pull/51984",
)
