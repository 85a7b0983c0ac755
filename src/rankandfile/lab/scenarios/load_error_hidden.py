"""A load error is logged by rank 0 only, and the failing rank goes on without the state."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge, new_file

SCENARIO = Scenario(
    title="Rank 2 fails to load its state, says nothing, and skips the broadcast that follows a load",
    program="local_sgd",
    world_size=4,
    cause="swallowed_exception",
    accepted_causes=("skipped_collective", "rank_conditional"),
    culprits=(2,),
    culprits_from_dumps=(2,),
    location=At("resume.py", "except ValueError as error:"),
    divergence=diverge(
        "skipped",
        Cohort((2,), "all_reduce", At("worker.py", "self.point = self.averager.mean(self.point)")),
        Cohort((0, 1, 3), "broadcast", At("resume.py", "dist.broadcast(worker.point, src=0)")),
    ),
    fault=(
        new_file(
            "resume.py",
            '''"""Resume from the state of an earlier run, if there is one."""

import json
import logging
import os

import torch
import torch.distributed as dist

log = logging.getLogger("resume")


def read_state(rank):
    path = os.path.join(os.path.dirname(__file__), "state", f"worker{rank}.json")
    with open(path) as file:
        return json.load(file)


def resume(worker):
    rank = dist.get_rank()
    try:
        state = read_state(rank)
        worker.momentum = torch.full_like(worker.momentum, state["momentum"])
        dist.broadcast(worker.point, src=0)
    except ValueError as error:
        if rank == 0:
            log.warning("starting afresh: %s", error)
''',
        ),
        *(
            Edit(f"state/worker{r}.json", "", '{"momentum": 0.0' + ("}\n" if r != 2 else ", \n"))
            for r in range(4)
        ),
        below("train.py", "import inventory\n", "from resume import resume\n"),
        above("train.py", "    for number in range(1, args.rounds + 1):\n", "    resume(worker)\n"),
    ),
    fix=(
        Edit(
            "resume.py",
            """        dist.broadcast(worker.point, src=0)
    except ValueError as error:
        if rank == 0:
            log.warning("starting afresh: %s", error)
""",
            """    except ValueError as error:
        log.warning("rank %d starts without momentum: %s", rank, error)
    dist.broadcast(worker.point, src=0)
""",
        ),
    ),
    fix_summary="Report on every rank, and keep collectives out of the try block.",
    seen_in="https://github.com/NVIDIA/Megatron-LM/pull/367",
    in_suite=True,
)
