"""Programs of MPI and SHMEM: the functions that do not return before other ranks have come."""

from __future__ import annotations

from .frame_pattern import ASKED, NATIVE, Pattern, pattern


def mpi(names: str) -> str:
    """Functions of MPI by the names that C, its profiling layer and Fortran have for them."""
    told = names.split()
    return " ".join(
        [
            *(f"{p}MPI_{n}{s}" for p in ("", "P") for n in told for s in ("", "_c")),
            *(f"{p}mpi_{n.lower()}_*" for p in ("", "p") for n in told),
        ]
    )


MPI: tuple[Pattern, ...] = (
    pattern(
        "p2p",
        ASKED,
        (
            NATIVE,
            mpi("Recv Send Ssend Bsend Rsend Sendrecv* Mrecv Probe Mprobe Wait Waitall Waitany Waitsome"),
        ),
    ),
    pattern("init", ASKED, (NATIVE, mpi("Init Init_thread Comm_split* Comm_dup* Comm_create* Intercomm_*"))),
    pattern("teardown", ASKED, (NATIVE, mpi("Finalize"))),
    pattern(
        "collective",
        ASKED,
        (NATIVE, mpi("Allreduce Reduce Reduce_scatter* Bcast Barrier Scan Exscan Win_fence Win_create")),
        (NATIVE, mpi("Gather Gatherv Allgather* Scatter Scatterv Alltoall* Neighbor_*")),
        (NATIVE, "*shmem_barrier_all* *shmem_*_reduce* *shmem_broadcast* *shmem_sync_all*"),
    ),
)
