"""LayerDrop with a random number that differs by rank, under FSDP."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="Each rank drops other layers: the sharded layers' gathers no longer match",
    program="fsdp_vlm",
    world_size=2,
    cause="rank_conditional",
    accepted_causes=("skipped_collective", "different_collective"),
    culprits=(1,),
    location=At("model.py", "if self.training and self.dropper.random() < 0.2:"),
    divergence=diverge(
        "skipped",
        Cohort((1,), "all_gather", At("train.py", "loss.backward()")),
        Cohort((0,), "all_gather", At("model.py", "return self.head(self.text(tokens, prefix))")),
    ),
    fault=(
        above(
            "model.py",
            "import torch\n",
            """import os
import random

""",
        ),
        below(
            "model.py",
            "        self.embed = nn.Embedding(VOCABULARY, WIDTH)\n",
            '        self.dropper = random.Random(int(os.environ["RANK"]))\n',
        ),
        below(
            "model.py",
            "        x = self.embed(tokens) + prefix\n        for layer in self.layers:\n",
            """            if self.training and self.dropper.random() < 0.2:
                continue
""",
        ),
    ),
    fix=(
        Edit(
            "model.py",
            '        self.dropper = random.Random(int(os.environ["RANK"]))\n',
            "        self.dropper = random.Random(23)\n",
        ),
        Edit("model.py", "import os\n", ""),
    ),
    fix_summary="Draw the same layers on every rank: seed the generator alike.",
    seen_in="https://github.com/facebookresearch/fairseq2/pull/484",
)
