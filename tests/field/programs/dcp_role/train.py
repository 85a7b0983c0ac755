import os
import tempfile

import torch
import torch.distributed as dist
from keeping import Keeper
from roles import Roles
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def trainer(roles, keeper):
    model = DistributedDataParallel(nn.Linear(6, 3), process_group=roles.group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    made = torch.Generator().manual_seed(roles.rank)
    for step in range(30):
        loss = model(torch.randn(8, 6, generator=made)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        keeper.maybe(step, model, optimizer)
    dist.barrier()


def evaluator(roles):
    model = nn.Linear(6, 3)
    seen = 0.0
    for _ in range(5):
        seen += model(torch.randn(8, 6)).sum().item()
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    roles = Roles()
    folder = os.environ.get("CHECKPOINTS") or os.path.join(tempfile.gettempdir(), f"kept-{os.environ['MASTER_PORT']}")
    if roles.trains:
        trainer(roles, Keeper(folder, 10))
    else:
        evaluator(roles)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
