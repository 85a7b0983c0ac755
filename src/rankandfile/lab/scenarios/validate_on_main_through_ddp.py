"""Rank 0 validates through the DDP wrapper, whose forward broadcasts buffers."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, diverge

SCENARIO = Scenario(
    title="Rank 0 validates alone through DDP: hidden buffer broadcasts pair with the others' next calls",
    program="classifier",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("extra_collective",),
    culprits=(0,),
    culprits_from_dumps=(0,),
    location=At("trainer.py", "if parallel.is_main() and self.step % self.config.eval_every == 0:"),
    divergence=diverge(
        "extra",
        Cohort((0,), "broadcast", At("evaluate.py", "logits = model(tokens)")),
        Cohort((1, 2, 3), "broadcast", At("trainer.py", "self.loss_fn(self.model(tokens), labels)")),
    ),
    fault=(
        Edit("evaluate.py", "logits = model.module(tokens)", "logits = model(tokens)"),
        Edit(
            "evaluate.py",
            "    loss, correct, seen = parallel.reduce_sum([loss, correct, seen])\n",
            "",
        ),
        Edit("evaluate.py", "import parallel\n", ""),
        Edit(
            "trainer.py",
            "if self.step % self.config.eval_every == 0:",
            "if parallel.is_main() and self.step % self.config.eval_every == 0:",
        ),
    ),
    fix=(Edit("evaluate.py", "logits = model(tokens)", "logits = model.module(tokens)"),),
    fix_summary="Validate through model.module: no buffer is broadcast.",
    seen_in="https://github.com/pytorch/pytorch/issues/54059",
)
