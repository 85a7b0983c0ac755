from torch.distributed.device_mesh import init_device_mesh


class Layout:
    def __init__(self, replicas, shards):
        self.mesh = init_device_mesh("cpu", (replicas, shards), mesh_dim_names=("replica", "shard"))

    @property
    def shard(self):
        return self.mesh["shard"]

    def leads(self):
        """The first replica speaks for all."""
        return self.mesh.get_local_rank("replica") == 0 and self.mesh.get_local_rank("shard") == 0
