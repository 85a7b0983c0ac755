"""Of a rank whose stack ends in its event loop, the await is named that can wait without a limit."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

MARK = "# <-"
IN_ALL_REDUCE = """\
Process 10: python main.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 10 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2835)
    wrapper (torch/distributed/c10d_logger.py:83)
    mean (/job/main.py:{line})
"""
OTHER = """\
Process 11: python main.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 11 (idle): "MainThread"
{inner}
    <module> (/job/main.py:{line})
"""
IN_THE_LOOP = """\
    select (selectors.py:468)
    _run_once (asyncio/base_events.py:1884)
    run_forever (asyncio/base_events.py:607)
    run_until_complete (asyncio/base_events.py:640)
    run (asyncio/runners.py:190)"""
CLOSING = IN_THE_LOOP.replace("run (asyncio/runners.py:190)", "close (asyncio/runners.py:71)")
TRIO = """\
    get_events (trio/_core/_io_epoll.py:227)
    unrolled_run (trio/_core/_run.py:2703)
    run (trio/_core/_run.py:2407)"""
IN_A_POOL = """\
Thread 12 (idle): "asyncio_0"
    get (queue.py:171)
    load (/job/main.py:{line})
    run (concurrent/futures/thread.py:58)
    _worker (concurrent/futures/thread.py:83)
    run (threading.py:982)
    _bootstrap_inner (threading.py:1045)
    _bootstrap (threading.py:1002)
"""
START = """
import asyncio
import queue
import torch.distributed as dist
import trio


def mean(x):
    dist.all_reduce(x)


"""


def diagnosed(folder: Path, code: str, inner: str = IN_THE_LOOP, pool: bool = False) -> tuple[Verdict, str]:
    """What is said of a job whose rank 1 stands in its event loop, and the line that it names."""
    run = "trio.run(work)" if inner is TRIO else "asyncio.run(work())"
    lines = [*START.splitlines(), *textwrap.dedent(code).splitlines(), run]
    evidence, source = folder / "evidence", folder / "src"
    evidence.mkdir()
    source.mkdir()
    (source / "main.py").write_text("\n".join(lines))
    reduces = lines.index("    dist.all_reduce(x)") + 1
    marked = next((number for number, line in enumerate(lines, 1) if MARK in line), 0)
    (evidence / "pyspy_rank_0.txt").write_text(IN_ALL_REDUCE.format(line=reduces))
    stacks = OTHER.format(inner=inner, line=len(lines)) + (IN_A_POOL.format(line=marked) if pool else "")
    (evidence / "pyspy_rank_1.txt").write_text(stacks)
    verdict = rankandfile.diagnose([evidence], src=source).verdicts[0]
    assert [suspect.rank for suspect in verdict.named] == [1]
    assert verdict.location is not None and verdict.location.line is not None
    return verdict, lines[verdict.location.line - 1].strip()


SLOTS = """
class Slots:
    def __init__(self, n):
        self._free = asyncio.Semaphore(n)

    async def take(self):
        await self._free.acquire()

    def give(self):
        self._free.release()

class Tools:
    async def call(self, program):
        await asyncio.sleep(0.1)
        if program > 3:
            raise TimeoutError(program)
        return program

class Actor:
    def __init__(self, tools: Tools, slots: Slots):
        self.tools, self.slots = tools, slots

    async def episode(self, n):
        await self.slots.take()  # <-
        reward = await self.tools.call(n)
        self.slots.give()
        return reward

    async def collect(self):
        tasks = [self.episode(n) for n in range(9)]
        return await asyncio.gather(*tasks, return_exceptions=True)

async def work():
    actor = Actor(Tools(), Slots(5))
    for _ in range(10):
        mean(await actor.collect())
"""
IN_FINALLY = SLOTS.replace("        reward = await self.tools.call(n)\n        self.slots.give()\n", """\
        try:
            reward = await self.tools.call(n)
        finally:
            self.slots.give()
""")  # fmt: skip
QUEUE_IN_A_LOCK = """
async def take(items, lock: asyncio.Lock):
    async with lock:
        return await items.get()  # <-

async def never_awaited(event):
    await event.wait()

async def work():
    items, lock = asyncio.Queue(), asyncio.Lock()
    beside = asyncio.create_task(never_awaited(asyncio.Event()))
    await items.put(1)
    async with asyncio.TaskGroup() as group:
        group.create_task(take(items, lock))
    await asyncio.wait_for(items.join(), 5)
    async with asyncio.timeout(3):
        await items.join()
    if dist.get_rank() == 0:
        await items.join()
"""
BLOCK = """
class Slots:
    def __init__(self, n):
        self._free = asyncio.Semaphore(n)

    async def __aenter__(self):
        await self._free.acquire()
        return self

    async def __aexit__(self, *raised):
        self._free.release()

async def work():
    slots = Slots(0)
    async with slots:  # <-
        mean(1)
"""
POLLED = """
class State:
    ready = False

async def work():
    state = State()
    while not state.ready:  # <-
        await asyncio.sleep(0.5)
    mean(1)
"""
NURSERY = """
async def child(event):
    await event.wait()  # <-

async def work():
    event = trio.Event()
    with trio.fail_after(3):
        await event.wait()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(child, event)
"""
TWO = """
async def items(queue):
    while True:
        yield await queue.get()

async def told(event):
    await event.wait()

async def both():
    async for item in items(asyncio.Queue()):
        mean(item)
    await told(asyncio.Event())

async def work():
    await asyncio.sleep(1)
    await both()  # <-
"""
ORDER = """
A, B = asyncio.Lock(), asyncio.Lock()

async def one(done):
    async with A:
        async with B:
            mean(1)
    await done.wait()

async def work():
    await asyncio.gather(one(asyncio.Event()), one(asyncio.Event()))  # <-
"""
POOL = """
BATCHES = queue.Queue()

def load(n):
    return BATCHES.get()  # <-

async def work():
    loop = asyncio.get_running_loop()
    mean(await loop.run_in_executor(None, load, 3))
    await asyncio.Event().wait()
"""
LIMITED = """
async def work():
    for _ in range(4):
        await asyncio.sleep(1)
        mean(1)
"""


@pytest.mark.parametrize(
    ("code", "inner"),
    [
        *((code, IN_THE_LOOP) for code in (SLOTS, QUEUE_IN_A_LOCK, BLOCK, POLLED)),
        (NURSERY, TRIO),
    ],
    ids=["slots", "queue", "block", "polled", "nursery"],
)
def test_the_only_await_without_a_limit_is_the_line(tmp_path: Path, code: str, inner: str) -> None:
    verdict, line = diagnosed(tmp_path, code, inner)
    assert MARK in line
    assert "of what its coroutine awaits, only `" in verdict.sentence
    assert ("but for locks" in verdict.sentence) is (code is QUEUE_IN_A_LOCK)


@pytest.mark.parametrize("code", [SLOTS, IN_FINALLY], ids=["skipped", "finally"])
def test_what_an_exception_skips_is_told(tmp_path: Path, code: str) -> None:
    verdict, line = diagnosed(tmp_path, code)
    assert MARK in line
    assert ("`self.slots.give()`" in verdict.sentence) is (code is SLOTS)


@pytest.mark.parametrize(
    ("code", "waits"),
    [(TWO, ["queue.get()", "told(asyncio.Event())"]), (ORDER, ["with A", "with B", "done.wait()"])],
    ids=["two", "order"],
)
def test_of_several_their_common_await_is_the_line_and_none_is_chosen(
    tmp_path: Path, code: str, waits: list[str]
) -> None:
    verdict, line = diagnosed(tmp_path, code)
    assert MARK in line
    assert "only" not in verdict.sentence
    for wait in waits:
        assert wait in verdict.sentence


def test_a_thread_of_the_pool_shows_what_is_awaited(tmp_path: Path) -> None:
    verdict, line = diagnosed(tmp_path, POOL, pool=True)
    assert MARK in line
    assert "`await loop.run_in_executor(None, load, 3)`" in verdict.sentence


@pytest.mark.parametrize(
    ("code", "inner"), [(LIMITED, IN_THE_LOOP), (SLOTS, CLOSING)], ids=["limited", "closing"]
)
def test_nothing_is_said_where_no_await_can_keep_it(tmp_path: Path, code: str, inner: str) -> None:
    verdict, line = diagnosed(tmp_path, code, inner)
    assert line == "asyncio.run(work())"
    assert "awaits" not in verdict.sentence
