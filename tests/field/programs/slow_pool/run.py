import torch
import torch.distributed as dist
from features import features


def gathered(mine):
    told = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(told, torch.tensor([float(len(mine))]))
    return torch.cat(told)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    for turn in range(4):
        parts = range(10) if dist.get_rank() == 1 and turn == 2 else range(3)
        mine = features(parts) if len(parts) > 3 else list(parts)
        gathered(mine)
    dist.destroy_process_group()
