"""What an activity is part of, by the frames further out; and what a line of source shows where no frame does."""

from __future__ import annotations

from typing import NamedTuple

from .frame_pattern import ANY, ASKED, Where, where
from .late_pattern import LatePattern


class Context(NamedTuple):
    activity: str
    words: str
    where: Where
    own: bool
    """A name that the program's author chose, so that libraries' frames do not count."""


def context(activity: str, words: str, file: str, functions: str, *, own: bool = False) -> Context:
    return Context(activity, words, where(file, functions), own)


CONTEXTS: tuple[Context, ...] = (
    context("data_loader", "in a data-loader worker", "torch/utils/data/_utils/worker.py", "_worker_loop"),
    context("data_loader", "in the data loader", "torch/utils/data/dataloader.py", "__next__ _next_data"),
    context("checkpoint", "for a checkpoint", "torch/serialization.py", ANY),
    context("checkpoint", "for a checkpoint", "torch/distributed/checkpoint/*.py", ANY),
    context("checkpoint", "for a checkpoint", "*", "*checkpoint* *ckpt* save_state* load_state*", own=True),
    context("checkpoint", "for a checkpoint", "*checkpoint*.py", "*save* *load* *write* *restore*", own=True),
    context("checkpoint", "for a checkpoint", "*ckpt*.py", "*save* *load* *write* *restore*", own=True),
    context("compile", "while compiling", "torch/_dynamo/convert_frame.py", ANY),
    context("compile", "while building an extension", "torch/utils/cpp_extension.py", ANY),
    context("backward", "in backward", "torch/autograd/graph.py", "_engine_run_backward"),
    context("teardown", "while leaving", "torch/distributed/distributed_c10d.py", "destroy_process_group"),
    context("teardown", "at exit", "*.py", "_run_exitfuncs _exit_function _exitfunc"),
    context("exception", "while printing an exception", "traceback.py", ANY),
    context(
        "exception",
        "while handling an exception",
        "*",
        "excepthook handle_exception* on_exception*",
        own=True,
    ),
)


def code(activity: str, phrase: str, *words: str) -> tuple[str, str, LatePattern]:
    return activity, phrase, LatePattern("|".join(words))


#: What a program calls a communicator of MPI.
_COMM = r"(?:\b(?:\w*comm\w*|\w*[cC]ommunicator)|\bCOMM_WORLD|\b\w*world\w*)\."
_MPI_COLLECTIVES = (
    "[bB]cast|[bB]arrier|[aA]llreduce|[aA]llgatherv?|[aA]lltoall[vw]?|[gG]atherv?|[sS]catterv?|[rR]educe|Reduce_scatter\\w*"
    "|[sS]can|[eE]xscan|Split|Dup|Create\\w*"
)


#: How the store of a job is called; a feature store, say, is another.
_KIND = "(?:tcp_|c10d_|dist_)?"

#: Calls into C leave no frame: the innermost frame's own line tells, where its text is known.
CODE = (
    code(
        "debugger",
        "at the prompt of a debugger (a breakpoint) in {at}",
        r"(?<![\w.])breakpoint\(",
        r"\bset_trace\(",
        r"(?<![\w.])input\(",
    ),
    code("sleep", "sleeping in {at}", r"\bsleep\("),
    code("lock", "waiting for a lock in {at}", r"\b(flock|lockf)\(", r"\.acquire\(", r"^with .*(lock|mutex)"),
    code("gc", "collecting garbage in {at}", r"\bgc\.collect\("),
    code(
        "collective",
        ASKED,
        r"\b(dist|distributed|c10d)\.(?P<op>all_\w+|reduce\w*|broadcast\w*|barrier|gather\w*|scatter\w*)\(",
    ),
    # mpi4py's are compiled: of them only the source line is seen.
    code("collective", ASKED, rf"{_COMM}(?P<op>(?:{_MPI_COLLECTIVES}))\("),
    code("p2p", ASKED, rf"{_COMM}(?P<op>(?:[SR]ecv|[srS]end|recv|[sS]endrecv|[sS]send|[mM]?[pP]robe))\("),
    code("p2p", ASKED, r"\bMPI\.Request\.(?P<op>[wW]ait(?:all|any|some))\("),
    # Whatever waits in C under this name is a torch work or request: the others have frames of their own.
    code("init", "waiting for the store in {at}", rf"(?<![A-Za-z_])_?{_KIND}(?P<op>store)\w*\.(wait|get)\("),
    code("collective", "waiting for a call to complete in {at}", r"\.wait\("),
    code(
        "subprocess", "waiting for a process it started in {at}", r"\bos\.wait(pid|id)?\(", r"\.communicate\("
    ),
    code(
        "queue",
        "waiting for a queue in {at}",
        r"queue\w*\.(get|put)\(",
        r"\bq\.(get|put)\(",
        # A dictionary's takes an argument.
        r"\.get\((timeout=.*|block=.*|True.*)?\)",
    ),
    code(
        "thread",
        "waiting for another thread in {at}",
        r"thread\w*\.join\(",
        # A string's takes an argument.
        r"\.join\((timeout=.*)?\)",
        r"\.result\((timeout=.*)?\)",
    ),
    code(
        "cuda_sync", "perhaps waiting for its device in {at}", r"\.(item|tolist|cpu)\(\)", r"\.synchronize\("
    ),
    code(
        "network_io", "waiting for the network in {at}", r"\.(recv(_into|from|msg)?|accept|connect|sendall)\("
    ),
    code(
        "file_io",
        "in file I/O in {at}",
        r"\bopen\(",
        r"\.(read|readline|readlines|write|flush)\(",
        r"\bos\.(read|write|open|fsync|stat|listdir|rename)\(",
    ),
)
