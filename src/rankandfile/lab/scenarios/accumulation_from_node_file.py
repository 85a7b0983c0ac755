"""A setting comes from a file on each node, and one node's file is old."""

from rankandfile.lab.scenario import At, Edit, Evidence, Scenario, above, below, new_file

SCENARIO = Scenario(
    title="Ranks 2 and 3 accumulate one batch fewer, by an old settings file of their node",
    program="mesh_lm",
    world_size=4,
    cause="rank_conditional",
    accepted_causes=("uneven_inputs", "different_collective", "skipped_collective"),
    culprits=(2, 3),
    location=At("train.py", "for _ in range(settings.accumulation(layout.rank)):"),
    fault=(
        Edit(
            "train.py",
            "        for _ in range(args.accumulate):\n",
            "        for _ in range(settings.accumulation(layout.rank)):\n",
        ),
        below(
            "train.py",
            "            report.add(loss.item() * args.accumulate)\n",
            "            dist.barrier()  # keep the replicas in step\n",
        ),
        below("train.py", "import torch\n", "import torch.distributed as dist\n"),
        below("settings.py", "import argparse\n", "import json\nimport os\n"),
        above(
            "settings.py",
            "def parse():\n",
            '''def accumulation(rank):
    """Batches to accumulate, as the operator of this rank's node has set it."""
    path = os.path.join(os.path.dirname(__file__), "nodes", f"node{rank // 2}.json")
    with open(path) as file:
        return json.load(file)["accumulate"]


''',
        ),
        new_file("nodes/node0.json", '{"accumulate": 3}\n'),
        new_file("nodes/node1.json", '{"accumulate": 2}\n'),
    ),
    fix=(Edit("nodes/node1.json", '{"accumulate": 2}', '{"accumulate": 3}'),),
    evidence=Evidence(debug_server=True, dump_name="fr_dump_{rank}.pickle"),
    fix_summary="One settings file for the job, read by rank 0 and broadcast.",
)
