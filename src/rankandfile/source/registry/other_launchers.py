"""Ranks and collectives beside torch: mpi4py, Horovod, JAX, torch_xla."""

from .entry import Sanitiser, Source, Table

_RANK = Source("rank_api", "the rank's own number")
_SAME = Sanitiser(returned=True, group=())
_COMM = "mpi4py.MPI.COMM_WORLD"
_HVD = "horovod.torch"
_MULTIHOST = "jax.experimental.multihost_utils"

TABLE = Table(
    sources={
        f"{_COMM}.rank": _RANK,
        f"{_COMM}.Get_rank": _RANK,
        f"{_HVD}.rank": _RANK,
        f"{_HVD}.local_rank": _RANK,
        "jax.process_index": _RANK,
        "torch_xla.core.xla_model.get_ordinal": _RANK,
        "torch_xla.core.xla_model.is_master_ordinal": _RANK,
        "torch_xla.runtime.global_ordinal": _RANK,
    },
    sanitisers={
        **{f"{_COMM}.{name}": _SAME for name in ("bcast", "allreduce", "allgather")},
        **{f"{_HVD}.{name}": _SAME for name in ("allreduce", "allgather", "broadcast", "broadcast_object")},
        f"{_MULTIHOST}.process_allgather": _SAME,
        f"{_MULTIHOST}.broadcast_one_to_all": _SAME,
        "torch_xla.core.xla_model.mesh_reduce": _SAME,
    },
    collectives={
        **{
            f"{_COMM}.{name}": f"{name} over all ranks"
            for name in (
                "bcast",
                "allreduce",
                "allgather",
                "gather",
                "scatter",
                "reduce",
                "alltoall",
                "barrier",
            )
        },
        **{
            f"{_HVD}.{name}": f"{name} over all ranks"
            for name in (
                "allreduce",
                "allgather",
                "broadcast",
                "broadcast_parameters",
                "alltoall",
                "barrier",
                "join",
            )
        },
        f"{_MULTIHOST}.process_allgather": "all_gather over all processes",
        f"{_MULTIHOST}.broadcast_one_to_all": "broadcast to all processes",
        f"{_MULTIHOST}.sync_global_devices": "barrier on all processes",
    },
    uniform=frozenset(
        {f"{_COMM}.size", f"{_COMM}.Get_size", f"{_HVD}.size", "jax.process_count", "jax.device_count"}
    ),
    aliases={"horovod.tensorflow": _HVD, "horovod.keras": _HVD},
)
