"""Decoding stops at the end token of the rank's own sample."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, below, diverge

SCENARIO = Scenario(
    title="One rank's sample ends early, and its peer goes on calling the sharded model",
    program="fsdp_vlm",
    world_size=2,
    args=("--sample-every", "1"),
    cause="rank_conditional",
    accepted_causes=("skipped_collective", "different_collective"),
    culprits=(0,),
    location=At("generation.py", "if bool((following == END).all()):"),
    divergence=diverge(
        "skipped",
        Cohort((0,), "all_gather", At("train.py", 'logits = model(batch["tokens"], batch["patches"])')),
        Cohort((1,), "all_gather", At("generation.py", "logits = model(tokens, patches)")),
    ),
    fault=(
        below("generation.py", "import torch\n", "\nEND = 13\n"),
        below(
            "generation.py",
            "        tokens = torch.cat([tokens, following], dim=1)\n",
            "        if bool((following == END).all()):\n            break\n",
        ),
    ),
    fix=(
        Edit(
            "generation.py",
            """        if bool((following == END).all()):
            break
""",
            "",
        ),
    ),
    fix_summary="Decode a fixed number of tokens on every rank, and cut at the end token afterwards.",
    seen_in="https://github.com/deepspeedai/DeepSpeed/issues/8262",
)
