"""A broadcast's root does not wait for its receivers: it is far ahead, and innocent."""

from rankandfile.lab.scenario import At, Cohort, Edit, Evidence, Scenario, below, diverge, new_file

SCENARIO = Scenario(
    title="Rank 3 is stuck in a queue; the root of the broadcasts is many calls ahead of everyone",
    program="local_sgd",
    world_size=4,
    args=("--rounds", "40"),
    cause="host_blocked",
    culprits=(3,),
    culprits_from_dumps=(3,),
    decoys=(0,),
    location=At("commands.py", "return self.inbox.get()"),
    divergence=diverge(
        "absent",
        Cohort((3,)),
        Cohort((0, 1, 2), "broadcast", At("commands.py", "dist.broadcast(code, src=0)")),
    ),
    fault=(
        new_file(
            "commands.py",
            '''"""Rank 0 tells the workers what to do in each round; a console can add commands."""

import queue

import torch
import torch.distributed as dist

CONSOLE_RANK = 3


class Commands:
    def __init__(self):
        self.inbox = queue.SimpleQueue()

    def next(self, number):
        code = torch.tensor([number])
        dist.broadcast(code, src=0)
        if dist.get_rank() == CONSOLE_RANK and number == 17:
            return self.from_console()
        return int(code.item())

    def from_console(self):
        return self.inbox.get()
''',
        ),
        below("train.py", "import inventory\n", "from commands import Commands\n"),
        Edit(
            "train.py",
            "    for number in range(1, args.rounds + 1):\n",
            """    commands = Commands()
    for number in range(1, args.rounds + 1):
        commands.next(number)
""",
        ),
        Edit(
            "train.py",
            "        worker.round()\n        if number",
            """        if number == args.rounds:
            worker.round()
        if number > args.rounds and number""",
        ),
    ),
    fix=(
        Edit(
            "commands.py",
            "        return self.inbox.get()\n",
            "        return self.inbox.get_nowait() if not self.inbox.empty() else 0\n",
        ),
    ),
    fix_summary="Ask the console without waiting.",
    evidence=Evidence(dump_format="json", dump_name="rank{rank}.json"),
    in_suite=True,
)
