import torch
import torch.distributed as dist
from service import Service
from tqdm import tqdm


def judged(answers):
    service = Service()
    return [service.ask(answer) for answer in tqdm(answers, desc="judging", mininterval=0.1)]


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    for round_ in range(3):
        rewards = torch.zeros(14)
        if round_ == 1 and rank == world - 1:
            rewards += torch.tensor(judged(range(14)))
        dist.all_reduce(rewards)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
