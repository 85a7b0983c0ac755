"""LayerDrop with a random number that differs by rank, under FSDP."""

from rankandfile.lab.scenario import At, Cohort, Edit, Parting, Scenario

SCENARIO = Scenario(
    name="layerdrop_unseeded",
    title="Each rank drops other layers: the sharded layers' gathers no longer match",
    program="fsdp_vlm",
    world_size=2,
    cause="rank_conditional",
    accepted_causes=("skipped_collective", "different_collective"),
    culprits=(1,),
    location=At("model.py", "if self.training and self.dropper.random() < 0.2:"),
    parting=Parting(
        kind="skipped",
        cohorts=(
            Cohort((1,), "all_gather", At("train.py", "loss.backward()")),
            Cohort((0,), "all_gather", At("model.py", "return self.head(self.text(tokens, prefix))")),
        ),
    ),
    fault=(
        Edit(
            "model.py",
            "import torch\nfrom torch import nn\n",
            "import os\nimport random\n\nimport torch\nfrom torch import nn\n",
        ),
        Edit(
            "model.py",
            "        self.embed = nn.Embedding(VOCABULARY, WIDTH)\n",
            """        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.dropper = random.Random(int(os.environ["RANK"]))
""",
        ),
        Edit(
            "model.py",
            "        x = self.embed(tokens) + prefix\n        for layer in self.layers:\n",
            """        x = self.embed(tokens) + prefix
        for layer in self.layers:
            if self.training and self.dropper.random() < 0.2:
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
        Edit("model.py", "import os\nimport random\n", "import random\n"),
    ),
    fix_summary="Draw the same layers on every rank: seed the generator alike.",
    seen_in="https://github.com/facebookresearch/fairseq2/pull/484",
)
