"""The device mesh: data parallel outside, tensor parallel inside."""

import os
from datetime import timedelta

import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh


class Layout:
    def __init__(self, dp, tp):
        dist.init_process_group("gloo", timeout=timedelta(minutes=10))
        self.rank = int(os.environ["RANK"])
        self.mesh = init_device_mesh("cpu", (dp, tp), mesh_dim_names=("dp", "tp"))
        self.dp_group = self.mesh.get_group("dp")
        self.tp_group = self.mesh.get_group("tp")
        self.dp_size, self.tp_size = dp, tp
        self.dp_rank = self.mesh.get_local_rank("dp")
        self.tp_rank = self.mesh.get_local_rank("tp")

    @property
    def writes_checkpoints(self):
        return self.dp_rank == 0

    def close(self):
        dist.barrier()
        dist.destroy_process_group()
