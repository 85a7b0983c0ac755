"""Ranks and collectives beside torch: mpi4py, Horovod, JAX, torch_xla."""

from .entry import OWN_NUMBER, Sanitiser, Source, Table

_RANK = Source("rank_api", OWN_NUMBER)
_SAME = Sanitiser(returned=True, group=())
_COMM = "mpi4py.MPI.COMM_WORLD"
"""The one communicator of all ranks, and what is duplicated from it. Who is in another one is not known."""
_OBJECTS = ("bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce", "scan", "exscan")
_BUFFERS = (
    *(word.capitalize() for word in _OBJECTS),
    *("Gatherv", "Scatterv", "Allgatherv", "Alltoallv", "Alltoallw"),
    *("Reduce_scatter", "Reduce_scatter_block", "Barrier"),
)
_COMM_MAKERS = (
    "Split",
    "Split_type",
    "Create",
    "Dup",
    "dup",
    "Idup",
    "Create_cart",
    "Create_graph",
    "Disconnect",
)
_MESSAGES = (
    "send",
    "recv",
    "isend",
    "irecv",
    "ssend",
    "bsend",
    "issend",
    "ibsend",
    "sendrecv",
    "probe",
    "mprobe",
)
_MESSAGES_OF_BUFFERS = (*(word.capitalize() for word in _MESSAGES), "Rsend", "Sendrecv_replace", "Irsend")
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
        **{f"{_COMM}.{name}": Sanitiser(in_place=(0, "buf"), group=()) for name in ("Bcast", "Ibcast")},
        **{
            f"{_COMM}.{name}": Sanitiser(in_place=(1, "recvbuf"), group=())
            for name in ("Allreduce", "Allgather", "Allgatherv", "Iallreduce", "Iallgather")
        },
        **{f"{_HVD}.{name}": _SAME for name in ("allreduce", "allgather", "broadcast", "broadcast_object")},
        f"{_MULTIHOST}.process_allgather": _SAME,
        f"{_MULTIHOST}.broadcast_one_to_all": _SAME,
        "torch_xla.core.xla_model.mesh_reduce": _SAME,
    },
    collectives={
        **{
            f"{_COMM}.{name}": f"{name} over all ranks"
            for name in (*_OBJECTS, "barrier", *_BUFFERS, *(f"I{name.lower()}" for name in _BUFFERS))
        },
        **{f"{_COMM}.{name}": f"{name} is for all ranks" for name in _COMM_MAKERS},
        **{f"{_COMM}.{name}": f"{name} with the peer" for name in (*_MESSAGES, *_MESSAGES_OF_BUFFERS)},
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
    pairwise=frozenset(f"{_COMM}.{name}" for name in (*_MESSAGES, *_MESSAGES_OF_BUFFERS)),
    holds={_COMM: _COMM},
    makes={f"{_COMM}.Dup": _COMM, f"{_COMM}.dup": _COMM, f"{_COMM}.Clone": _COMM},
    uniform=frozenset(
        {f"{_COMM}.size", f"{_COMM}.Get_size", f"{_HVD}.size", "jax.process_count", "jax.device_count"}
    ),
    aliases={"horovod.tensorflow": _HVD, "horovod.keras": _HVD},
)
