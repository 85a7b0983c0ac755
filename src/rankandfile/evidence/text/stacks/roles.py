"""What each thread of a process is for, from its name and its frames.

The program's own thread matters, and a few that work for it. Never those that only watch or serve: they are
alive in every hung process, and whoever takes a snapshot from inside stands in the middle of taking it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rankandfile.evidence.raw import Frame
from rankandfile.evidence.tables.frames import is_torch_frame
from rankandfile.model.known.packages import is_installed


class View(NamedTuple):
    """As much of a thread as tells its role."""

    name: str
    os_thread: int | None
    current: bool
    frames: tuple[Frame, ...]


#: Threads of torch, NCCL and CUDA that serve or watch, by the names they give themselves (15 characters).
_SERVER_NAME = re.compile(
    r"pt_(nccl|xccl)|pt_tcpstore|pt_gloo|watchd|heartb|blackbox|flight.?rec|debug.?server|worker.?server"
    r"|monitor|faulthandler|py-?spy|cuda-EvtHandlr|nccl|gloo|memory.?profil|wandb|tensorboard|prometheus",
    re.IGNORECASE,
)
#: Functions that take stacks or dumps: the thread that has them innermost looks at the others.
_TAKES = re.compile(
    r"(^|\.)(dump_traceback|dump_stacks?|_?dump_(fr|nccl)_trace\w*|_current_frames|format_stack|print_stack"
    r"|extract_stack|walk_stack|StackSummary\.extract|take_(dump|snapshot)|dump_all_(threads|stacks))$"
)
_TAKES_FILE = re.compile(
    r"(^|[/\\])(torch[/\\]distributed[/\\]debug[/\\]|rankandfile[/\\](runtime|capture|lab)[/\\]|faulthandler\.py$)"
)
_SERVER_NATIVE = re.compile(
    r"ProcessGroup\w+::(Watchdog|HeartbeatMonitor|ncclCommWatchdog|heartbeatMonitor|watchdogHandler|runLoop)"
    r"|c10d::control_plane|TCPStore\w*Daemon|BackgroundThread::(run|daemon)"
    r"|ncclProxy(Service|Progress)|ncclRasThreadMain|gloo::transport::\w+::Loop::run|uv_run$"
)
_AUTOGRAD_NAME = re.compile(r"pt_autograd")
_AUTOGRAD = re.compile(
    r"torch::autograd::(Engine::(thread_main|thread_init)|python::PythonEngine::thread_init)"
)
_AUTOGRAD_FILE = re.compile(r"(^|[/\\])torch[/\\]autograd[/\\](function|graph)\.py$")
_WORKER_FILE = re.compile(r"(^|[/\\])torch[/\\]utils[/\\]data[/\\]_utils[/\\]worker\.py$")
_LAUNCHER_FILE = re.compile(r"(^|[/\\])torch[/\\]distributed[/\\](elastic[/\\]agent|launcher|run\.py)")
#: Where a program begins that is none of Python, or whose Python frames nobody printed.
_PROGRAM = re.compile(
    r"main$|MAIN__$|Py_(?:Bytes|Run)?Main$|__libc_start_(?:call_)?main\w*$|generic_start_main\w*$"
)
_STARTED_NAME = re.compile(r"Thread-\d|ThreadPool|Dummy-\d|.*\(")
_THREAD_BOOT = re.compile(r"(^|\.)(_bootstrap|_bootstrap_inner|__bootstrap)$")
_WAITS_FOR_ONE = re.compile(
    r"(^|[/\\])(threading|queue|selectors|socket|asyncio[/\\]\w+|concurrent[/\\]futures[/\\]\w+|ray[/\\][\w/\\]+|tornado[/\\]\w+)\.py$"
)
_LEAVES = re.compile(r"(^|\.)(_shutdown|_python_exit|_exit_function|_run_exitfuncs)$")
#: torch's own calls between ranks, and no server or launcher of it.
_CALLS = re.compile(
    r"(^|[/\\])torch[/\\](distributed[/\\](distributed_c10d|_functional_collectives|fsdp[/\\].*)|nn[/\\]parallel[/\\]distributed)\.py$"
)
_INNERMOST = 6
_PACKAGED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")


def assign(threads: Sequence[View], pid: int | None, *, fatal: bool) -> list[str]:
    """The role of each thread of one process."""
    main = _training(threads, _main(threads, pid))
    found: list[str] = []
    for index, thread in enumerate(threads):
        if index == main:
            found.append(_of_main(thread))
        elif _serves(thread, fatal=fatal):
            found.append("server")
        elif _is_autograd(thread):
            found.append("autograd")
        else:
            found.append("other")
    return found


def _main(threads: Sequence[View], pid: int | None) -> int | None:
    """Which thread is the program's own; None if none can be told to be."""
    for index, thread in enumerate(threads):
        if thread.name == "MainThread" or (pid is not None and thread.os_thread == pid):
            return index
    for index in range(len(threads) - 1, -1, -1):
        frames = threads[index].frames
        if any(frame.function == "<module>" for frame in frames[-12:]) and not _is_booted(frames):
            return index
    for index, thread in enumerate(threads):
        if any(_PROGRAM.match(frame.function) for frame in thread.frames[-4:]):
            return index
    # faulthandler names nobody and lists the eldest last; it stops after 100 frames, before <module>, and an
    # interpreter that shuts down has left <module>.
    last = threads[-1] if threads else None
    if (
        last is None
        or _is_booted(last.frames)
        or not any(frame.file.endswith(".py") for frame in last.frames)
    ):
        return None
    return None if _is_autograd(last) or _STARTED_NAME.match(last.name) else len(threads) - 1


def _training(threads: Sequence[View], main: int | None) -> int | None:
    """The thread that trains, where the program's first one only waits for it: known by what it does.

    It is the only one in torch.distributed; or, where the first one runs nothing but a framework, the only one that
    runs the program's own functions.
    """
    if main is None:
        return None
    inner = [frame for frame in threads[main].frames if frame.file.endswith(".py")][:_INNERMOST]
    if (
        not inner
        or not _WAITS_FOR_ONE.search(inner[0].file)
        or any(_LEAVES.search(f.function) for f in inner)
    ):
        return main
    others = [
        index
        for index, thread in enumerate(threads)
        if index != main and _is_booted(thread.frames) and not _serves(thread, fatal=False)
    ]
    calls = [index for index in others if any(_CALLS.search(frame.file) for frame in threads[index].frames)]
    if not calls and not _is_own(threads[main].frames):
        calls = [index for index in others if _is_own(threads[index].frames)]
    return calls[0] if len(calls) == 1 else main


def _is_own(frames: Sequence[Frame]) -> bool:
    """Whether a function of the program itself runs there, as far as the names of the files tell."""
    return any(
        frame.file.endswith(".py")
        and not is_torch_frame(frame.file)
        and not _PACKAGED.search(frame.file)
        and not is_installed(frame.file)
        for frame in frames
    )


def _is_booted(frames: Sequence[Frame]) -> bool:
    """Begun by `threading`. A forked process inherits such frames, below those of its own."""
    return any(_THREAD_BOOT.search(frame.function) and "threading" in frame.file for frame in frames[-8:])


def _of_main(thread: View) -> str:
    if any(_WORKER_FILE.search(frame.file) for frame in thread.frames):
        return "worker"
    if any(_LAUNCHER_FILE.search(frame.file) for frame in thread.frames):
        return "launcher"
    return "main"


def _serves(thread: View, *, fatal: bool) -> bool:
    # The thread that calls faulthandler is its current one. After a fatal error it is the one that failed.
    if thread.current and not fatal:
        return True
    if not thread.frames or _SERVER_NAME.search(thread.name):
        return True
    inner = thread.frames[:_INNERMOST]
    if any(_TAKES.search(frame.function) or _TAKES_FILE.search(frame.file) for frame in inner):
        return True
    return any(_SERVER_NATIVE.search(frame.function) for frame in thread.frames)


def _is_autograd(thread: View) -> bool:
    if _AUTOGRAD_NAME.search(thread.name):
        return True
    if any(_AUTOGRAD.search(frame.function) for frame in thread.frames):
        return True
    # A backward thread has no Python of its own: its outermost Python frame is a hook or a custom function.
    return not _is_booted(thread.frames) and any(
        _AUTOGRAD_FILE.search(frame.file) for frame in thread.frames[-2:]
    )
