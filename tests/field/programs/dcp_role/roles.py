import torch.distributed as dist


class Roles:
    """The last rank only evaluates; the others train."""

    def __init__(self):
        self.rank, self.count = dist.get_rank(), dist.get_world_size()
        self.trainers = list(range(self.count - 1))
        self.group = dist.new_group(self.trainers)

    @property
    def trains(self):
        return self.rank in self.trainers
