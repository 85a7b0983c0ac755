"""Python, NumPy and plain torch: what is different in every process."""

from .entry import Source, Table


def _all(kind: str, words: str, *names: str) -> dict[str, Source]:
    return {name: Source(kind, words) for name in names}


_OS_PATH = [
    f"os.path.{name}" for name in ("exists", "isfile", "isdir", "getmtime", "getsize", "islink", "lexists")
]
_PATH = [
    f"pathlib.Path.{name}" for name in ("exists", "is_file", "is_dir", "stat", "iterdir", "glob", "rglob")
]
_QUEUES = (
    "queue.Queue",
    "queue.SimpleQueue",
    "multiprocessing.Queue",
    "queue.LifoQueue",
    "queue.PriorityQueue",
)
_QUEUE = [f"{queue}.{name}" for queue in _QUEUES for name in ("get", "get_nowait", "empty", "full", "qsize")]
_RANDOM = (
    "random",
    "randint",
    "uniform",
    "choice",
    "choices",
    "shuffle",
    "sample",
    "randrange",
    "gauss",
    "betavariate",
)
_NUMPY = (
    "rand",
    "randn",
    "randint",
    "random",
    "uniform",
    "choice",
    "permutation",
    "shuffle",
    "normal",
    "random_sample",
)

TABLE = Table(
    sources={
        **_all(
            "clock",
            "this rank's clock",
            "time.time",
            "time.monotonic",
            "time.perf_counter",
            "time.process_time",
            "time.time_ns",
            "time.monotonic_ns",
            "time.perf_counter_ns",
            "datetime.datetime.now",
            "datetime.datetime.utcnow",
            "datetime.date.today",
            "torch.cuda.Event.elapsed_time",
        ),
        **_all(
            "file_system",
            "what this rank finds in the file system",
            *_OS_PATH,
            *_PATH,
            "os.listdir",
            "os.scandir",
            "os.stat",
            "os.walk",
            "os.access",
            "glob.glob",
            "glob.iglob",
            "os.statvfs",
            "shutil.disk_usage",
        ),
        **_all(
            "rng",
            "a random number of this process",
            *(f"random.{n}" for n in _RANDOM),
            *(f"numpy.random.{n}" for n in _NUMPY),
            "uuid.uuid4",
            "uuid.uuid1",
            "secrets.token_hex",
            "secrets.randbelow",
            "os.urandom",
            "random.SystemRandom",
        ),
        **_all("queue", "what has reached this rank's queue", *_QUEUE),
        **_all(
            "cache",
            "what this process happens to have kept",
            "cachetools.Cache",
            "cachetools.TTLCache",
            "cachetools.LRUCache",
            "cachetools.LFUCache",
            "diskcache.Cache",
            "diskcache.FanoutCache",
            "shelve.open",
            "dbm.open",
            "weakref.WeakValueDictionary",
            "weakref.WeakKeyDictionary",
            "weakref.WeakSet",
        ),
        **_all(
            "network",
            "what this rank gets over the network",
            "requests.get",
            "requests.post",
            "urllib.request.urlopen",
            "socket.create_connection",
        ),
        **_all(
            "memory",
            "this rank's memory",
            "torch.cuda.memory_allocated",
            "torch.cuda.memory_reserved",
            "torch.cuda.max_memory_allocated",
            "torch.cuda.mem_get_info",
            "torch.cuda.memory_stats",
            "psutil.virtual_memory",
            "psutil.Process",
            "resource.getrusage",
        ),
        **_all(
            "host",
            "the name of this rank's host",
            "socket.gethostname",
            "socket.getfqdn",
            "platform.node",
            "os.uname",
            "platform.uname",
        ),
        **_all(
            "process",
            "this process's own number",
            "os.getpid",
            "threading.get_ident",
            "builtins.id",
            "os.getppid",
            "threading.get_native_id",
        ),
        **_all(
            "device",
            "this rank's device",
            "torch.cuda.current_device",
            "torch.cuda.get_device_name",
            "torch.cuda.get_device_properties",
            "torch.cuda.utilization",
        ),
        **_all(
            "host",
            "the load of this rank's host",
            "os.getloadavg",
            "psutil.cpu_percent",
            "os.cpu_count",
            "multiprocessing.cpu_count",
            "os.sched_getaffinity",
        ),
        **_all(
            "thread",
            "what another thread of this rank has done",
            "threading.Event.is_set",
            "multiprocessing.Event.is_set",
            "threading.Thread.is_alive",
            "concurrent.futures.Future.done",
            "threading.Event.wait",
        ),
    },
    collectives={},
    aliases={
        "multiprocessing.queues.Queue": "multiprocessing.Queue",
        "torch.multiprocessing": "multiprocessing",
    },
)

RANK_VARIABLES = frozenset(
    [
        "RANK",
        "LOCAL_RANK",
        "NODE_RANK",
        "GROUP_RANK",
        "ROLE_RANK",
        "SLURM_PROCID",
        "SLURM_LOCALID",
        "SLURM_NODEID",
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "PMI_RANK",
        "PMIX_RANK",
        "MPI_LOCALRANKID",
        "MV2_COMM_WORLD_RANK",
        "JAX_PROCESS_ID",
        "TPU_WORKER_ID",
        "CUDA_VISIBLE_DEVICES",
        "HOSTNAME",
        "SLURMD_NODENAME",
        "POD_NAME",
        "POD_IP",
    ]
)
"""Variables that a launcher gives every process, or every host, its own value of."""

JOB_VARIABLES = frozenset(
    [
        "WORLD_SIZE",
        "LOCAL_WORLD_SIZE",
        "MASTER_ADDR",
        "MASTER_PORT",
        "NNODES",
        "NPROC_PER_NODE",
        "SLURM_NTASKS",
        "SLURM_JOB_ID",
        "SLURM_NNODES",
        "OMPI_COMM_WORLD_SIZE",
        "TORCHELASTIC_RUN_ID",
        "TORCHELASTIC_RESTART_COUNT",
    ]
)
"""Variables that a launcher sets alike for all."""

PURE = (
    "builtins.",
    "math.",
    "operator.",
    "itertools.",
    "functools.",
    "collections.",
    "copy.",
    "re.",
    "json.dumps",
    "json.loads",
    "os.path.join",
    "os.path.dirname",
    "os.path.basename",
    "os.fspath",
    "torch.",
    "numpy.",
    "string.",
    "dataclasses.",
    "statistics.",
    "einops.",
    "pathlib.",
    "datetime.timedelta",
    "typing.",
    "enum.",
    "struct.",
    "bisect.",
    "heapq.",
    "fractions.",
    "decimal.",
    "argparse.",
)
"""What computes its result from its arguments alone."""

NOT_PURE = (
    "builtins.open",
    "builtins.input",
    "torch.load",
    "torch.distributed.",
    "torch.utils.data.",
    "numpy.load",
    "torch.cuda.",
    "numpy.fromfile",
    "numpy.memmap",
    "torch.hub.",
    "numpy.random.",
    "torch.rand",
    "torch.multinomial",
    "torch.bernoulli",
    "torch.normal",
    "builtins.__import__",
    "builtins.getattr",
    "builtins.iter",
    "builtins.next",
)
"""Exceptions from `PURE`."""

PARSED = frozenset({"argparse.ArgumentParser.parse_args", "argparse.ArgumentParser.parse_known_args"})
"""The command line, which every rank is started with alike."""
