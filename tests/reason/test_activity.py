"""What stacks show: real processes stuck in every way, and shapes that need devices."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from support.reason.stuck import Capture, Tables, capture

from rankandfile.model.activity import ACTIVITIES, Doing
from rankandfile.reason.ranks.activity import CodePlace, activities, classify
from rankandfile.reason.ranks.activity_contexts import CODE, CONTEXTS
from rankandfile.reason.ranks.activity_patterns import PATTERNS
from rankandfile.reason.ranks.threads import telling

pytestmark = pytest.mark.slow


class Stuck(NamedTuple):
    program: str
    plain: str
    """What Python's frames alone show."""
    native: str
    source: str
    """What they show together with the text of the innermost line."""


STUCK = {
    "sleep": Stuck("ready(); time.sleep(600)", "user_code", "sleep", "sleep"),
    "polling": Stuck("ready()\nwhile True:\n    time.sleep(0.5)", "user_code", "sleep", "sleep"),
    "lock": Stuck("lock = threading.Lock(); lock.acquire(); ready()\nlock.acquire()", "user_code", "lock", "lock"),
    "event": Stuck("ready(); threading.Event().wait()", "lock", "lock", "lock"),
    "queue": Stuck("import queue\nready(); queue.Queue().get()", "queue", "queue", "queue"),
    "thread": Stuck(
        "t = threading.Thread(target=time.sleep, args=(600,), daemon=True); t.start()\nready(); t.join()",
        "thread", "thread", "thread",
    ),
    "fifo": Stuck("os.mkfifo('feed'); ready()\nopen('feed')", "user_code", "file_io", "file_io"),
    "pipe": Stuck("end, _ = os.pipe(); ready()\nos.read(end, 1)", "user_code", "file_io", "file_io"),
    "flock": Stuck(
        "import fcntl, subprocess\nheld = open('held', 'w'); fcntl.flock(held, fcntl.LOCK_EX)\n"
        "own = open('held', 'w'); ready()\nfcntl.flock(own, fcntl.LOCK_EX)",
        "user_code", "lock", "lock",
    ),
    "socket": Stuck(
        "import socket\na, b = socket.socketpair(); ready()\na.recv(1)", "user_code", "network_io", "network_io"
    ),
    "http": Stuck(
        "import socket, urllib.request\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); ready()\n"
        "urllib.request.urlopen('http://127.0.0.1:%d/' % s.getsockname()[1])",
        "network_io", "network_io", "network_io",
    ),
    "child": Stuck(
        "import subprocess\nready(); subprocess.run(['sleep', '600'])", "subprocess", "subprocess", "subprocess"
    ),
    "exit": Stuck(
        "threading.Thread(target=time.sleep, args=(600,)).start(); ready()", "teardown", "teardown", "teardown"
    ),
    "collecting": Stuck(
        "import gc\nkept = [[i] for i in range(2_000_000)]; ready()\nwhile True:\n    gc.collect()",
        "user_code", "gc", "gc",
    ),
    "exception": Stuck(
        "import traceback\nclass Full:\n    def write(self, text): os.read(os.pipe()[0], 1)\n"
        "ready()\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    traceback.print_exc(file=Full())",
        "user_code", "file_io", "file_io",
    ),
}  # fmt: skip


def doing(found: Tables, source: dict[tuple[str, int], str] | None = None) -> tuple[str, str | None, str]:
    """Activity, what it is within and the phrase, of the process that was looked at."""
    rows = telling(found.snapshots, found.stacks, found.frames)
    main = rows.filter(rows["role"] == "main")
    assert main.height == 1
    shown = activities(main, found.stacks, found.frames, source)
    row = shown.row(0, named=True)
    return row["activity"], row["within"], row["phrase"]


def source_of(program: Path) -> dict[tuple[str, int], str]:
    return {(str(program), n): line.strip() for n, line in enumerate(program.read_text().splitlines(), 1)}


@pytest.mark.parametrize("name", STUCK)
def test_real(tmp_path: Path, name: str) -> None:
    stuck = STUCK[name]
    seen = capture(tmp_path, stuck.program)
    assert doing(seen.plain)[0] == stuck.plain
    assert doing(seen.native)[0] == stuck.native
    activity, _, phrase = doing(seen.fault, source_of(seen.program))
    assert activity == stuck.source
    if name != "exit":
        assert "program.py:" in phrase
    if name == "exception":
        assert doing(seen.plain)[1] == "exception"


def test_real_regex_holds_the_lock(tmp_path: Path) -> None:
    seen = capture(tmp_path, "import re\nready()\nre.match(r'(a+)+$', 'a' * 60 + 'b')")
    assert doing(seen.plain)[0] == "user_code"
    (main,) = seen.plain.snapshots.filter(seen.plain.snapshots["role"] == "main").iter_rows(named=True)
    assert main["owns_gil"]
    assert main["active"]


@pytest.mark.torch
class TestTorch:
    @pytest.fixture(autouse=True)
    def _torch(self) -> None:
        pytest.importorskip("torch")

    def test_loader(self, tmp_path: Path) -> None:
        seen = capture(
            tmp_path,
            """
            from torch.utils.data import DataLoader, Dataset
            class Feed(Dataset):
                def __len__(self): return 8
                def __getitem__(self, i):
                    ready(); time.sleep(600)
            def train():
                for batch in DataLoader(Feed(), num_workers=1, batch_size=None): pass
            train()
            """,
            settle=1,
        )
        activity, _, phrase = doing(seen.plain)
        assert (activity, phrase) == ("data_loader", "in queue.get ← next(loader), program.py:13")
        rows = telling(seen.plain.snapshots, seen.plain.stacks, seen.plain.frames)
        worker = rows.filter(rows["role"] == "worker")
        assert worker.height == 1
        (row,) = activities(worker, seen.plain.stacks, seen.plain.frames).iter_rows(named=True)
        assert (row["activity"], row["within"]) == ("user_code", "data_loader")
        assert row["phrase"] == "in __getitem__, program.py:11, in a data-loader worker"

    def test_collective(self, tmp_path: Path) -> None:
        seen = capture(
            tmp_path,
            """
            import torch, torch.distributed as dist
            store = dist.FileStore("store", 2)
            rank = 1 if os.fork() == 0 else 0
            dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
            def average():
                dist.all_reduce(torch.ones(4))
            if rank == 0:
                ready(); average()
            time.sleep(600)
            """,
            settle=1,
        )
        # The forked rank is a child of this one, and not looked at here.
        plain = seen.plain._replace(
            snapshots=seen.plain.snapshots.filter(seen.plain.snapshots["parent"].is_null())
        )
        assert doing(plain)[::2] == ("collective", "in all_reduce ← average, program.py:12")
        assert doing(seen.native)[0] == "collective"
        assert doing(seen.fault)[0] == "collective"

    @pytest.mark.lab
    def test_backward_and_compile(self, tmp_path: Path) -> None:
        seen = capture(
            tmp_path,
            """
            import torch
            class Slow(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x): return x * 2
                @staticmethod
                def backward(ctx, grad):
                    ready(); time.sleep(600)
            Slow.apply(torch.ones(2, requires_grad=True)).sum().backward()
            """,
        )
        assert doing(seen.native)[:2] == ("sleep", "backward")
        seen = capture(
            tmp_path,
            """
            import torch
            def slow(module, inputs):
                ready(); time.sleep(600)
            torch.compile(lambda x: x * 2, backend=slow)(torch.ones(2))
            """,
        )
        assert doing(seen.native)[:2] == ("sleep", "compile")


T = "/venv/lib/python3.11/site-packages/torch/"
C10D = T + "distributed/distributed_c10d.py"
STDLIB = "/usr/lib/python3.11/"


def stack(*frames: tuple[str, str]) -> list[CodePlace]:
    """Innermost first; `file:line` for a frame of the program, which lies in /job."""
    split = [(function, *file.partition(":")[::2]) for function, file in frames]
    return [
        CodePlace(function, file, int(line or 7), "urllib3" not in file and "/job/" not in file)
        for function, file, line in split
    ]


@pytest.mark.parametrize(
    ("frames", "activity", "within", "phrase"),
    [
        ([("destroy_process_group", C10D), ("main", "/job/train.py:9")],
         "teardown", None, "in destroy_process_group ← main, train.py:9"),
        ([("synchronize", T + "cuda/__init__.py"), ("step", "/job/train.py:9")],
         "cuda_sync", None, "waiting for its device in train.py:9"),
        ([("cudaStreamSynchronize", "libcudart.so.12"), ("step", "/job/train.py:9")],
         "cuda_sync", None, "waiting for its device in train.py:9"),
        ([("ncclGroupEnd", "libnccl.so.2"), ("step", "/job/train.py:9")],
         "nccl_call", None, "in ncclGroupEnd ← step, train.py:9"),
        ([("Condition.wait", "threading.py"), ("save", "/job/checkpoint.py:41")],
         "lock", "checkpoint", "waiting for a lock in checkpoint.py:41"),
        ([("wait", STDLIB + "threading.py"), ("put", "/job/pool.py:4"), ("save_checkpoint", "/job/train.py:41")],
         "lock", "checkpoint", "waiting for a lock in pool.py:4, for a checkpoint"),
        ([("select", STDLIB + "selectors.py"), ("_try_get_data", T + "utils/data/dataloader.py"),
          ("__next__", T + "utils/data/dataloader.py"), ("epoch", "/job/data.py:31")],
         "data_loader", None, "in queue.get ← next(loader), data.py:31"),
        ([("recv", C10D), ("wrapper", T + "distributed/c10d_logger.py"),
          ("exchange", "/job/pipe.py:3")], "p2p", None, "in recv ← exchange, pipe.py:3"),
        ([("gather_object", C10D), ("save", T + "distributed/checkpoint/state_dict_saver.py"),
          ("main", "/job/train.py:9")],
         "collective", "checkpoint", "in gather_object ← main, train.py:9, for a checkpoint"),
        ([("_save", T + "serialization.py"), ("main", "/job/train.py:9")],
         "checkpoint", None, "in _save ← main, train.py:9"),
        ([("new_group", C10D), ("main", "/job/train.py:9")],
         "init", None, "in new_group ← main, train.py:9"),
        ([("void c10d::Work::wait(std::chrono)", "libtorch_cpu.so"), ("_engine_run_backward", T + "autograd/graph.py"),
          ("step", "/job/train.py:9")], "collective", "backward", None),
        ([("_engine_run_backward", T + "autograd/graph.py"), ("step", "/job/train.py:9")],
         "backward", None, "in backward ← step, train.py:9"),
        ([("_compile", T + "_inductor/compile_fx.py"), ("_compile", T + "_dynamo/convert_frame.py"),
          ("step", "/job/train.py:9")], "compile", None, "compiling ← step, train.py:9"),
        ([("get", STDLIB + "multiprocessing/queues.py"), ("_worker_loop", T + "utils/data/_utils/worker.py"),
          ("train", "/job/train.py:9")], "idle", None, "a data-loader worker waiting for work"),
        ([("dump_traceback", "/job/debug.py:2"), ("on_signal", "/job/debug.py:8"), ("all_reduce", C10D),
          ("step", "/job/train.py:9")], "collective", None, "in all_reduce ← step, train.py:9"),
        ([("_conv_forward", T + "nn/modules/conv.py"), ("forward", "/job/model.py:9")],
         "user_code", None, "in _conv_forward ← forward, model.py:9"),
        ([("sendall", "/venv/lib/python3.11/site-packages/urllib3/connection.py"), ("push", "/job/log.py:9")],
         "network_io", None, "waiting for the network in log.py:9"),
    ],
)  # fmt: skip
def test_shapes(frames: list[tuple[str, str]], activity: str, within: str | None, phrase: str | None) -> None:
    found = classify(stack(*frames))
    assert found is not None
    assert (found.activity, found.within) == (activity, within)
    assert phrase is None or found.phrase == phrase
    assert found.waits == ACTIVITIES[activity].waits


@pytest.mark.parametrize(
    ("code", "activity"),
    [("work.wait()", "collective"), ("store.wait(['x'])", "init"), ("loss.item()", "cuda_sync"),
     ("dist.barrier()", "collective"), ("with self.lock:", "lock"), ("x = y + 1", "user_code"), (None, "user_code")],
)  # fmt: skip
def test_a_line_tells_what_was_called_in_c(code: str | None, activity: str) -> None:
    found = classify(stack(("step", "/job/train.py:9")), code)
    assert found is not None
    assert found.activity == activity


def test_an_unknown_line_of_the_program_may_wait_for_others() -> None:
    found = classify(stack(("step", "/job/train.py:9")))
    assert isinstance(found, Doing)
    assert found.waits == "maybe"


def test_no_frames_no_activity() -> None:
    assert classify([]) is None


def test_every_pattern_uses_words_of_the_model() -> None:
    used = (
        {pattern.activity for pattern in PATTERNS}
        | {code[0] for code in CODE}
        | {c.activity for c in CONTEXTS}
    )
    assert used <= set(ACTIVITIES)
    for phrase in [pattern.phrase for pattern in PATTERNS] + [code[1] for code in CODE]:
        assert phrase.format(op="a", function="b", at="c:1")


def test_captures_agree(tmp_path: Path) -> None:
    seen: Capture = capture(tmp_path, STUCK["queue"].program)
    assert doing(seen.plain) == doing(seen.fault)


def test_a_line_in_no_function_is_told_by_its_place_alone() -> None:
    inside = CodePlace(
        "barrier", "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py", 4811, True
    )
    doing = classify([inside, CodePlace("<module>", "/job/j.py", 14)])
    assert doing is not None and doing.phrase == "in barrier, j.py:14"
