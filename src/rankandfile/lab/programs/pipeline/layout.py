"""Replicas of a pipeline: ranks 0..pp-1 are the first pipeline, the next pp ranks the second."""

from datetime import timedelta

import torch.distributed as dist


class Layout:
    def __init__(self, pp):
        dist.init_process_group("gloo", timeout=timedelta(minutes=10))
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.pp, self.dp = pp, self.world // pp
        self.stage = self.rank % pp
        self.replica = self.rank // pp
        for replica in range(self.dp):
            ranks = list(range(replica * pp, (replica + 1) * pp))
            group = dist.new_group(ranks, group_desc=f"pp{replica}")
            if self.rank in ranks:
                self.pp_group = group
        for stage in range(pp):
            ranks = list(range(stage, self.world, pp))
            group = dist.new_group(ranks, group_desc=f"dp{stage}")
            if self.rank in ranks:
                self.dp_group = group

    @property
    def is_first(self):
        return self.stage == 0

    @property
    def is_last(self):
        return self.stage == self.pp - 1

    @property
    def next_rank(self):
        return None if self.is_last else self.rank + 1

    @property
    def previous_rank(self):
        return None if self.is_first else self.rank - 1
