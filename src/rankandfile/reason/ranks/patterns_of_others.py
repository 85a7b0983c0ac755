"""What programs of others than torch wait in: MPI and SHMEM, JAX and other devices, and clients of other machines."""

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
    # Of a binding that calls it by the library's own name, as Python's does when it exits.
    pattern(
        "teardown", "in MPI's tear-down ({op})", (NATIVE, "ompi_mpi_finalize* MPIR_Finalize* MPID_Finalize*")
    ),
    pattern(
        "collective",
        ASKED,
        (NATIVE, mpi("Allreduce Reduce Reduce_scatter* Bcast Barrier Scan Exscan Win_fence Win_create")),
        (NATIVE, mpi("Gather Gatherv Allgather* Scatter Scatterv Alltoall* Neighbor_*")),
        (NATIVE, "*shmem_barrier_all* *shmem_*_reduce* *shmem_broadcast* *shmem_sync_all*"),
    ),
)

#: Of servers of models: a worker waits for its engine.
SERVER_WITHOUT_WORK = pattern(
    "idle",
    "waiting for work from its engine",
    ("vllm/distributed/device_communicators/shm_broadcast.py", "acquire_read dequeue"),
    ("sglang/srt/managers/scheduler*.py", "recv_requests"),
)

OTHER_DEVICES: tuple[Pattern, ...] = (
    # JAX runs its steps behind the program: who asks for a value waits for the step, and so for all that take part.
    pattern(
        "collective",
        ASKED,
        ("jax/experimental/multihost_utils.py", "sync_global_devices broadcast_one_to_all process_allgather"),
        ("jax/experimental/multihost_utils.py", "assert_equal reached_preemption_sync_point"),
        # Frameworks over torch: a profiler may show no frame further in.
        ("accelerate/*.py", "wait_for_everyone"),
        ("*lightning/*strategies/*.py", "barrier"),
        ("mmengine/dist/*.py", "barrier all_reduce* all_gather* broadcast* collect_results*"),
        ("detectron2/utils/comm.py", "synchronize gather all_gather reduce_dict"),
        ("orbax/checkpoint/*.py", "sync_global_processes sync_global_devices barrier_sync* *_barrier"),
    ),
    pattern(
        "cuda_sync",
        "waiting for a value of its device in {at}",
        ("jax/_src/array.py", "_value __float__ __int__ __bool__ __array__ item tolist block_until_ready"),
        ("jax/_src/api.py", "block_until_ready device_get effects_barrier"),
        ("jax/_src/dispatch.py", "block_until_ready* wait_for_tokens"),
        ("jax/_src/profiler.py", "wait*"),
        ("tensorflow/python/framework/ops.py", "numpy _numpy"),
        ("paddle/device/*.py", "synchronize"),
        ("torch_xla/*.py", "mark_step wait_device_ops _run_step_closures"),
        ("torch_npu/npu/*.py", "synchronize"),
        ("cupy/cuda/*.py", "synchronize"),
    ),
)

#: Libraries whose business is to ask other machines.
CLIENTS = (
    "urllib3", "requests", "httpx", "aiohttp", "botocore", "boto3", "fsspec", "s3fs", "gcsfs", "adlfs",
    "google/cloud/storage", "smart_open", "s3torchconnector", "pymongo", "psycopg*", "comet_ml", "mlflow", "neptune",
    "huggingface_hub", "wandb", "grpc", "redis",
)  # fmt: skip
