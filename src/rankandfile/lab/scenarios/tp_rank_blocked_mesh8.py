"""One tensor-parallel rank stalls on the host; three groups wait in a chain behind it."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Scenario, above, below, diverge, new_file

SCENARIO = Scenario(
    title="Rank 5 waits for a profiler pipe before a tensor-parallel call; its row, its column and the world wait",
    program="mesh_lm",
    world_size=8,
    args=("--dp", "4", "--tp", "2", "--steps", "14"),
    cause="host_blocked",
    culprits=(5,),
    culprits_from_dumps=(5,),
    decoys=(4, 1, 3, 7),
    location=At("follow.py", "with open(path) as pipe:"),
    divergence=diverge(
        "absent",
        Cohort((5,)),
        Cohort((4,), "all_reduce", At("layers.py", "dist.all_reduce(x, group=group)")),
        group="mesh_tp",
        containing=5,
    ),
    fault=(
        new_file(
            "follow.py",
            '''"""Follow one rank with the profiler; the viewer answers through a pipe."""

import os

WATCHED_RANK = 5
EVERY = 9


def follow(step, rank):
    if rank != WATCHED_RANK or step % EVERY != 0:
        return
    path = "profile.pipe"
    if not os.path.exists(path):
        os.mkfifo(path)
    with open(path) as pipe:
        pipe.readline()
''',
        ),
        below("train.py", "import checkpoint\n", "import follow\n"),
        above(
            "train.py",
            "        optimizer.zero_grad(set_to_none=True)\n",
            "        follow.follow(step, layout.rank)\n",
        ),
    ),
    fix=(
        Edit(
            "follow.py",
            "    with open(path) as pipe:\n        pipe.readline()\n",
            "    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))\n",
        ),
    ),
    fix_summary="A training rank must not wait for a viewer: open the pipe without blocking.",
    evidence=Evidence(debug_server=True),
    in_suite=True,
)
