"""Data parallel outside, pipeline stages in the middle, tensor parallel inside."""

import os
from datetime import timedelta

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh


class Layout:
    def __init__(self, dp, pp, tp):
        dist.init_process_group("gloo", timeout=timedelta(minutes=10))
        self.rank = int(os.environ["RANK"])
        self.mesh = init_device_mesh("cpu", (dp, pp, tp), mesh_dim_names=("dp", "pp", "tp"))
        self.dp_size, self.pp_size, self.tp_size = dp, pp, tp
        self.dp_group, self.pp_group, self.tp_group = (self.mesh.get_group(d) for d in ("dp", "pp", "tp"))
        self.replica, self.stage, self.shard = self.mesh.get_coordinate()
        self._column = dist.get_process_group_ranks(self.pp_group)

    @property
    def is_first(self):
        return self.stage == 0

    @property
    def is_last(self):
        return self.stage == self.pp_size - 1

    @property
    def previous_rank(self):
        return self._column[self.stage - 1]

    @property
    def next_rank(self):
        return self._column[self.stage + 1]

    def close(self):
        dist.barrier()
        dist.destroy_process_group()
