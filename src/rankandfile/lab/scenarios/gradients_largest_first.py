"""Overlapped reductions are started in the order of local gradient norms."""

from rankandfile.lab.scenario import At, Edit, Scenario

SCENARIO = Scenario(
    title="Each rank reduces its largest gradients first: other tensors meet in the same call",
    program="moe",
    world_size=3,
    cause="rank_conditional",
    accepted_causes=("size_mismatch", "different_collective", "order_inversion"),
    culprits=(0, 1, 2),
    location=At("sync.py", "for p in sorted(shared_parameters(network), key=urgency)"),
    fault=(
        Edit(
            "sync.py",
            "    works = [dist.all_reduce(p.grad, async_op=True) for p in shared_parameters(network)]\n",
            """    def urgency(parameter):
        return -abs(parameter.grad.flatten()[0].item())

    # Large gradients take longest to settle, so they go first.
    works = [
        dist.all_reduce(p.grad, async_op=True)
        for p in sorted(shared_parameters(network), key=urgency)
    ]
""",
        ),
    ),
    fix_summary="Reduce in the order of the parameters, which is the same on all ranks.",
    seen_in="https://github.com/flashinfer-ai/flashinfer/pull/3187",
)
