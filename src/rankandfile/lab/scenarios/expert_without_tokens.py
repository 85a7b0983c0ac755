"""An expert that gets no token returns before the tokens are sent back."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="The expert of rank 2 gets no token and skips the way back",
    program="moe",
    world_size=3,
    cause="rank_conditional",
    accepted_causes=("skipped_collective",),
    culprits=(2,),
    location=At("experts.py", "if tokens.shape[0] == 0:"),
    divergence=diverge(
        "skipped",
        Cohort((2,), "all_to_all", At("train.py", "loss.backward()")),
        Cohort((0, 1), "all_to_all", At("experts.py", "returned = AllToAll.apply(")),
        group="expert_parallel",
    ),
    fault=(
        above(
            "experts.py",
            "        processed = self.expert(tokens)\n",
            "        if tokens.shape[0] == 0:\n            return x, load\n",
        ),
        below(
            "router.py",
            "        self.experts = experts\n",
            "        with torch.no_grad():\n            self.gate.bias[-1] = -0.6\n",
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
