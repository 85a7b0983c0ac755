"""A rank whose batch is empty skips the step, and is a step ahead for the rest of the run."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="Rank 1 skips one step early on; every later call pairs with the wrong step, until it runs out",
    program="moe",
    world_size=3,
    args=("--steps", "60", "--log-every", "1000"),
    cause="rank_conditional",
    accepted_causes=("skipped_collective", "uneven_inputs", "early_exit"),
    culprits=(1,),
    culprits_from_dumps=(1,),
    location=At("train.py", "if tokens.numel() == 0:"),
    divergence=diverge(
        "skipped",
        Cohort((1,)),
        Cohort((0, 2), "all_to_all", At("dispatch.py", "dist.all_to_all_single(incoming, counts")),
        group="expert_parallel",
    ),
    fault=(
        below(
            "train.py",
            "        tokens, targets = stream.batch(step)\n",
            "        if tokens.numel() == 0:\n            continue\n",
        ),
        above(
            "stream.py",
            "class Stream:",
            """# Documents that the quality filter has emptied, by shard.
FILTERED = {1: (5,)}


""",
        ),
        above(
            "stream.py",
            "        tokens = torch.randint(",
            "        if step in FILTERED.get(self.rank, ()):\n            length = 0\n",
        ),
    ),
    fix=(
        Edit("train.py", "        if tokens.numel() == 0:\n            continue\n", ""),
        Edit(
            "train.py",
            "        loss = F.cross_entropy(logits, targets.flatten())\n",
            """        loss = F.cross_entropy(logits, targets.flatten(), reduction="sum") / max(targets.numel(), 1)
""",
        ),
    ),
    fix_summary="An idle rank runs the step with nothing in it.",
    seen_in="https://github.com/vllm-project/vllm/issues/43547",
)
