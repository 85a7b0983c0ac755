"""Capacity is cut after the counts were exchanged."""

from rankandfile.lab.scenario import At, Cohort, Edit, Scenario, above, below, diverge

SCENARIO = Scenario(
    title="Rank 0 sends fewer tokens than it announced",
    program="moe",
    world_size=3,
    cause="split_mismatch",
    accepted_causes=("size_mismatch",),
    culprits=(0,),
    location=At("experts.py", "send = [n if r == me else min(n, CAPACITY)"),
    divergence=diverge(
        "argument",
        Cohort((0,), "all_to_all", At("experts.py", "tokens = AllToAll.apply(")),
        Cohort((1, 2), "all_to_all", At("experts.py", "tokens = AllToAll.apply(")),
        group="expert_parallel",
        occurrence=11,
    ),
    fault=(
        Edit(
            "experts.py",
            "        send, receive = counts.tolist(), incoming.tolist()\n",
            """        me = dist.get_rank(self.group)
        send = [n if r == me else min(n, CAPACITY) for r, n in enumerate(counts.tolist())]
        receive = incoming.tolist()
        keep = torch.cat([part[:n] for part, n in zip(order.split(counts.tolist()), send)])
        order = keep
""",
        ),
        below("experts.py", "import torch\n", "import torch.distributed as dist\n"),
        above(
            "experts.py",
            "class MixtureLayer(",
            """CAPACITY = 14


""",
        ),
    ),
    fix=(
        Edit(
            "experts.py",
            "        incoming = exchange_counts(counts, self.group)\n",
            """        limit = torch.full_like(counts, CAPACITY)
        limit[dist.get_rank(self.group)] = counts[dist.get_rank(self.group)]
        incoming = exchange_counts(torch.minimum(counts, limit), self.group)
""",
        ),
    ),
    fix_summary="Announce the counts after the capacity limit, not before.",
)
