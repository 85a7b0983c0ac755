import torch
import torch.distributed as dist
from cache import prepared


def vocabulary(size):
    told = torch.tensor([size])
    dist.broadcast(told, src=0)
    return int(told)


def main():
    dist.init_process_group("gloo")
    corpus = prepared(dist.get_rank())
    table = torch.nn.Embedding(vocabulary(corpus) + 1, 4)
    for _ in range(5):
        grad = table.weight.detach().clone()
        dist.all_reduce(grad)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
