"""Which frames show which activity. To teach Rank & File a new one, add a line here.

The patterns are tried in order, each on every frame between the innermost one and the program's own; the first
that fits decides. So what the program asked for comes first, and the means by which it waits come later: a
thread that waits for a lock inside a data loader waits for the data loader. How a pattern is written,
`frame_pattern` says.
"""

from __future__ import annotations

from .frame_pattern import ANY, ASKED, NATIVE, Pattern, pattern
from .patterns_of_others import CLIENTS, MPI, OTHER_DEVICES, SERVER_WITHOUT_WORK

_C10D = "torch/distributed/distributed_c10d.py"
_LOADER = "torch/utils/data/dataloader.py"
_DDP = "torch/nn/parallel/distributed.py"

PATTERNS: tuple[Pattern, ...] = (
    pattern(
        "gc",
        "collecting garbage in {at}",
        (NATIVE, "Garbage-collecting gc_collect* PyGC_Collect* _PyGC_Collect* collect_with_callback"),
    ),
    pattern(
        "import",
        "importing modules in {at}",
        ("<frozen importlib*>", "_find_and_load* _load_unlocked exec_module"),
    ),
    pattern(
        "debugger",
        "at the prompt of a debugger (a breakpoint) in {at}",
        ("[pb]db.py", "*cmdloop interaction user_* set_trace trace_dispatch dispatch_*"),
        ("cmd.py", "cmdloop"),
        ("ipdb/*.py", ANY),
        ("pudb/*.py", ANY),
        ("IPython/*.py", "*cmdloop set_trace interaction mainloop embed"),
        ("debugpy/*.py", "wait_for_client breakpoint"),
    ),
    SERVER_WITHOUT_WORK,
    # Leaving
    pattern(
        "teardown",
        ASKED,
        (_C10D, "destroy_process_group _abort_process_group _shutdown_backend"),
        ("torch/distributed/device_mesh.py", "*destroy*"),
    ),
    pattern("teardown", "stopping its data-loader workers in {at}", (_LOADER, "_shutdown_workers __del__")),
    pattern("teardown", "waiting for its threads at exit", ("threading.py", "_shutdown")),
    pattern("teardown", "ending its thread pool at exit", ("concurrent/futures/*.py", "_python_exit")),
    pattern(
        "teardown",
        "waiting at exit until what it put into a queue between processes is read",
        ("multiprocessing/queues.py", "_finalize_join"),
    ),
    pattern(
        "teardown",
        "ending its child processes at exit",
        ("multiprocessing/util.py", "_exit_function _run_finalizers"),
    ),
    pattern(
        "teardown",
        "shutting down its communicators in {at}",
        (NATIVE, "c10d::ProcessGroup*::~* c10d::ProcessGroup*::abort* c10d::ProcessGroup*::shutdown*"),
        (NATIVE, "ncclCommAbort* ncclCommDestroy* ncclCommFinalize* *waitForPendingWorks*"),
    ),
    # The job's own communication
    pattern(
        "p2p",
        ASKED,
        (_C10D, "send isend recv irecv send_object_list recv_object_list batch_isend_irecv"),
        ("torch/distributed/pipelining/*.py", "*batch_p2p*"),
        (NATIVE, "*c10d::ops::send* *c10d::ops::recv* *ProcessGroup*::send* *ProcessGroup*::recv*"),
    ),
    pattern(
        "init",
        ASKED,
        (_C10D, "init_process_group _store_based_barrier new_group *new_group_with_tag new_subgroups*"),
        (_C10D, "split_group"),
        ("torch/distributed/rendezvous.py", ANY),
        ("torch/distributed/elastic/rendezvous/*.py", ANY),
    ),
    pattern(
        "init",
        "setting up communication ← {function}, {at}",
        (NATIVE, "*c10d::TCPStore::* *c10d::FileStore::* *c10d::PrefixStore::* *c10d::HashStore::*"),
        (NATIVE, "ncclCommInit* bootstrapInit* initTransportsRank*"),
    ),
    pattern(
        "collective",
        ASKED,
        (_C10D, "all_reduce* reduce broadcast* all_gather* all_to_all* gather* scatter* reduce_scatter*"),
        (_C10D, "_all_gather_base _reduce_scatter_base barrier monitored_barrier"),
        ("torch/distributed/_functional_collectives*.py", "all_* reduce_* broadcast* wait* trigger_wait"),
        ("torch/distributed/nn/functional.py", ANY),
        (_DDP, "*broadcast_coalesced _sync_* *check_and_sync* *global_requires_backward*"),
        ("torch/distributed/utils.py", "_sync_* _verify_param_shape_across_processes"),
        (
            "torch/distributed/fsdp/*.py",
            "foreach_all_gather foreach_reduce* _all_gather_flat_param _reduce_grad wait_for_unshard",
        ),
        ("torch/distributed/algorithms/join.py", "notify_join_context __exit__ *all_reduce*"),
        ("torch/distributed/tensor/*.py", "full_tensor redistribute *redistribute_local_tensor"),
        ("deepspeed/comm/*.py", "all_* *allgather* *allreduce* reduce* broadcast* *barrier wait"),
        (
            "deepspeed/runtime/zero/partition*.py",
            "wait fetch_sub_module *all_gather* *allgather* _partition_gradient*",
        ),
        ("deepspeed/runtime/zero/stage*.py", "*allreduce* *reduce_scatter* *average_tensor* *avg_scatter*"),
        ("horovod/*.py", "synchronize *allreduce* *allgather* *broadcast* *alltoall* barrier join"),
        # All workers report, or none comes back from it.
        ("ray/train/*.py", "report"),
    ),
    pattern(
        "collective",
        "in a collective ← {function}, {at}",
        (NATIVE, "*c10d::ops::* *c10d::Work::wait* *Work*::wait* *Work*::synchronize* *c10d::Reducer::*"),
        (NATIVE, "*ProcessGroup*::all* *ProcessGroup*::reduce* *ProcessGroup*::broadcast*"),
        (NATIVE, "*ProcessGroup*::barrier* *ProcessGroup*::gather* *ProcessGroup*::scatter*"),
        (NATIVE, "*gloo::*::wait* gloo::all* gloo::barrier* gloo::broadcast* gloo::reduce*"),
    ),
    *MPI,
    pattern("nccl_call", ASKED, (NATIVE, "nccl[A-Z]* pnccl[A-Z]*"), ("torch/cuda/nccl.py", ANY)),
    # The device
    pattern(
        "cuda_sync",
        "waiting for its device in {at}",
        ("torch/cuda/*.py", "synchronize wait_stream wait_event query"),
        ("torch/accelerator/*.py", "synchronize"),
        ("torch/xpu/*.py", "synchronize"),
        (NATIVE, "cuda*Synchronize* cu*Synchronize* hip*Synchronize* *_local_scalar_dense_cuda*"),
        (NATIVE, "cudaMemcpy cuMemcpy???? hipMemcpy"),
    ),
    *OTHER_DEVICES,
    # Data
    pattern(
        "data_loader", "in queue.get ← next(loader), {at}", (_LOADER, "_try_get_data _get_data _next_data")
    ),
    pattern(
        "data_loader", "pinning memory for the data loader", ("torch/utils/data/_utils/pin_memory.py", ANY)
    ),
    pattern(
        "idle",
        "a data-loader worker waiting for work",
        ("torch/utils/data/_utils/worker.py", "_worker_loop"),
    ),
    pattern(
        "idle",
        "a helper thread waiting for work",
        ("concurrent/futures/*.py", "_worker _process_worker"),
        ("multiprocessing/queues.py", "_feed"),
        ("multiprocessing/pool.py", "worker _handle_*"),
        ("multiprocessing/resource_sharer.py", "_serve"),
        ("multiprocessing/managers.py", "serve_forever"),
        ("socketserver.py", "serve_forever"),
    ),
    # Compiling; whoever waits for another to do it only stands at a lock.
    pattern(
        "lock",
        "waiting for the lock of another process's build in {at}",
        ("torch/utils/file_baton.py", "wait"),
    ),
    pattern(
        "compile",
        "compiling ← {function}, {at}",
        ("torch/_dynamo/convert_frame.py", ANY),
        ("torch/_inductor/compile_fx*.py", "*compile* *compiler*"),
        ("torch/_inductor/async_compile.py", "wait triton load*"),
        ("torch/_inductor/codecache.py", "load* *compile*"),
        ("triton/*.py", "compile _compile _do_compile make_* benchmark* autotune*"),
        ("torch/utils/cpp_extension.py", "load* _jit_compile *ninja* _build_extension_module"),
    ),
    # Locks, children, queues, threads
    pattern(
        "lock",
        "waiting for a lock in {at}",
        ("filelock/*.py", "acquire _acquire __enter__"),
        ("portalocker/*.py", "acquire lock __enter__"),
    ),
    pattern(
        "subprocess",
        "waiting for a process it started in {at}",
        ("subprocess.py", "wait _wait communicate _communicate run call check_* _try_wait"),
        ("multiprocessing/process.py", "join"),
        ("multiprocessing/popen_*.py", "wait poll"),
        ("torch/multiprocessing/spawn.py", "join spawn start_processes"),
        (NATIVE, "wait4 __wait4 waitpid __waitpid waitid os_wait*"),
    ),
    pattern(
        "queue",
        "in queue.{op} ← {function}, {at}",
        ("queue.py", "get put join"),
        ("multiprocessing/queues.py", "get put join"),
    ),
    pattern(
        "thread",
        "waiting for another thread in {at}",
        ("concurrent/futures/_base.py", "result exception wait as_completed result_iterator"),
        ("concurrent/futures/*.py", "shutdown"),
        ("threading.py", "join _wait_for_tstate_lock"),
    ),
    pattern(
        "lock",
        "waiting for a lock in {at}",
        ("threading.py", "wait wait_for acquire __enter__"),
        ("multiprocessing/synchronize.py", "wait wait_for acquire __enter__"),
        (NATIVE, "flock __flock fcntl_flock* fcntl_lockf* lockf*"),
    ),
    # Sleep, network, files
    pattern(
        "sleep",
        "sleeping in {at}",
        (NATIVE, "time_sleep* pysleep* clock_nanosleep* *_clock_nanosleep* nanosleep* __nanosleep* usleep*"),
    ),
    pattern(
        "network_io",
        "waiting for the network in {at}",
        ("socket.py", "accept connect create_connection getaddrinfo readinto recv* send*"),
        ("ssl.py", "recv* read send* write do_handshake"),
        ("http/client.py", ANY),
        ("urllib/request.py", ANY),
        ("sqlalchemy/*.py", "execute connect scalar* fetch*"),
        *((f"{library}/*.py", ANY) for library in CLIENTS),
        (NATIVE, "recv __recv recvfrom* recvmsg* accept accept4 connect sendto sendmsg getaddrinfo"),
        (
            NATIVE,
            "__libc_recv* __libc_accept* __libc_connect* __libc_send* sock_recv* sock_accept* sock_connect*",
        ),
    ),
    pattern(
        "network_io",
        "waiting for another process in {at}",
        ("multiprocessing/connection.py", "accept poll _poll recv* _recv* send* _send* wait"),
    ),
    pattern(
        "checkpoint",
        ASKED,
        ("torch/serialization.py", ANY),
        ("torch/distributed/checkpoint/*.py", ANY),
        ("safetensors/*.py", ANY),
    ),
    pattern(
        "file_io",
        "in file {op} ← {function}, {at}",
        ("pathlib.py", "open read_* write_* stat exists glob unlink mkdir"),
        ("shutil.py", "copy* move rmtree"),
        ("gzip.py", "*read* *write* open"),
        ("os.py", "stat walk scandir makedirs"),
        ("genericpath.py", "exists isfile isdir getsize getmtime"),
        ("zipfile*.py", "*read* *write* open extract*"),
        ("tarfile.py", "*read* *write* *open extract* add next"),
        ("numpy/*.py", "load save savez* memmap fromfile"),
        ("h5py/*.py", ANY),
        ("PIL/*.py", "open load* *read"),
        ("webdataset/*.py", "*open* *read*"),
        (NATIVE, "read __read __libc_read pread* __pread* __libc_pread* _io_*_read* readv*"),
        (NATIVE, "write __write __libc_write pwrite* __pwrite* __libc_pwrite* _io_*_write* writev*"),
        (
            NATIVE,
            "open open64 __open* __libc_open* openat* os_open* _io_open* fsync fdatasync stat* fstat* rename",
        ),
        (
            NATIVE,
            "_Py_read _Py_write _io_FileIO_* os_stat os_lstat os_listdir os_scandir os_access os_mkdir* *fstatat*",
        ),
        (
            NATIVE,
            "__xstat* __lxstat* __fxstat* statx lstat* getdents* __getdents* readdir* access unlink* mkdir*",
        ),
        # As gdb names the C library's own.
        (NATIVE, "__GI___read __GI___write __GI___open* __GI___pread* __GI___pwrite* __GI_fsync"),
        (NATIVE, "__GI___libc_read __GI___libc_write __GI___libc_open* __GI___*read64 __GI___*stat*"),
    ),
    pattern(
        "network_io",
        "waiting for events in {at}",
        ("selectors.py", "select"),
        ("asyncio/*.py", "_run_once run_forever run_until_complete run"),
        ("trio/_core/*.py", "get_events"),
        (
            NATIVE,
            "poll __poll __GI___poll ppoll epoll_wait epoll_pwait* __epoll_wait select __select pselect*",
        ),
    ),
    pattern(
        "backward",
        "in backward ← {function}, {at}",
        ("torch/autograd/graph.py", "_engine_run_backward"),
        # Before torch 2.2 the engine is called from here.
        ("torch/autograd/__init__.py", "backward grad"),
        (NATIVE, "torch::autograd::*Engine::execute*"),
    ),
    pattern("exception", "printing an exception in {at}", ("traceback.py", ANY)),
    pattern(
        "lock",
        "waiting for a lock in {at}",
        (NATIVE, "PyThread_acquire_lock* lock_PyThread_acquire_lock acquire_timed std::*mutex::lock*"),
        (NATIVE, "__lll_lock_wait* pthread_mutex_lock __pthread_mutex_lock *pthread_rwlock_*"),
    ),
)
