"""A batch without images skips the vision tower, whose layers are FSDP units."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, diverge

SCENARIO = Scenario(
    title="Rank 1 draws a text-only batch and skips the sharded vision tower",
    program="fsdp_vlm",
    world_size=2,
    cause="rank_conditional",
    accepted_causes=("different_collective", "skipped_collective"),
    culprits=(1,),
    location=At("model.py", "if patches is not None:"),
    divergence=diverge(
        "skipped",
        Cohort((0,), "all_gather", At("model.py", "prefix = self.vision(patches)")),
        Cohort((1,), "all_gather", At("model.py", "return self.head(self.text(tokens, prefix))")),
    ),
    fault=(
        Edit(
            "model.py",
            "        prefix = self.vision(patches)\n",
            """        prefix = torch.zeros(1)
        if patches is not None:
            prefix = self.vision(patches)
""",
        ),
        above(
            "samples.py",
            '        return {"tokens": tokens[:, :-1], "targets": tokens[:, 1:], "patches": patches}\n',
            """        if (self.index + 3 * self.rank) % TEXT_ONLY_EVERY == 0:
            patches = None
""",
        ),
    ),
    fix=(
        Edit(
            "model.py",
            """        prefix = torch.zeros(1)
        if patches is not None:
            prefix = self.vision(patches)
""",
            """        present = patches is not None
        if not present:
            patches = torch.zeros(tokens.shape[0], 1, PATCH)
        prefix = self.vision(patches) * float(present)
""",
        ),
    ),
    args=("--sample-every", "100"),
    fix_summary="Run the tower on every rank, with a dummy image times zero where there is none.",
    seen_in="https://github.com/huggingface/transformers/issues/37186",
)
