import torch
import torch.distributed as dist
from layout import Layout
from norms import describe
from torch.distributed.tensor import Replicate, Shard, distribute_tensor


def weights(layout):
    torch.manual_seed(0)
    return {f"layer{n}": distribute_tensor(torch.randn(8, 4), layout.shard, [Shard(0)]) for n in range(3)}


def step(layout, kept, number):
    total = torch.zeros(())
    for name, weight in kept.items():
        total += (weight * (number + 1)).sum().redistribute(placements=[Replicate()]).to_local()
    dist.all_reduce(total, group=layout.mesh["replica"].get_group())
    return total


def main():
    dist.init_process_group("gloo")
    layout = Layout(2, 2)
    kept = weights(layout)
    for number in range(12):
        total = step(layout, kept, number)
        if number % 6 == 5:
            told = describe(layout, kept)
            if told:
                print(number, told, total.item(), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
