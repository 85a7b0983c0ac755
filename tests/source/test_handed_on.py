"""A stack of a thread begins with the function that it runs: who handed it over, and in which loop, the source says."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.source.toy_runs import MARK, case_of, play, tree

from rankandfile.source.lines.call_paths import Frame
from rankandfile.source.lines.found_line import Search
from rankandfile.source.lines.loop_order import loop_order
from rankandfile.source.lines.threads.handed_on import way_before
from rankandfile.source.lint.run import lint

PROGRAM = """
import asyncio
import torch.distributed as dist


class Channels:
    def add(self, name):
        dist.all_reduce(name)

    async def mean(self, name):
        await asyncio.to_thread(self.add, name)


async def answer(name):
    return name


async def gather(channels):
    asked = [asyncio.create_task(answer(name)) for name in ("a", "b")]
    for one in asyncio.as_completed(asked):  # <-
        await channels.mean(await one)


def main():
    asyncio.run(gather(Channels()))
"""


def line_of(text: str, program: str) -> int:
    return next(n for n, line in enumerate(program.splitlines(), 1) if text in line)


def searched(program: str) -> tuple[Search, tuple[Frame, ...]]:
    """The stack of the thread that makes the call is in one function of the program."""
    search = Search(case_of(play(2, train="def main(): pass")), tree({"train.py": program}))
    return search, (Frame("add", "train.py", line_of("all_reduce", program)),)


def test_the_loop_in_which_a_thread_was_given_its_work_says_in_which_order() -> None:
    search, path = searched(PROGRAM)
    assert [frame.function for frame in way_before(search, path)] == ["main", "gather", "mean"]
    assert loop_order(search.places, path) is None
    found = loop_order(search.places, way_before(search, path))
    assert found is not None and found.line == line_of(MARK, PROGRAM)


@pytest.mark.parametrize(
    "more",
    ["\n\ndef other(channels):\n    pool.submit(channels.add, 3)\n", ""],
    ids=["handed over twice", "called, not handed over"],
)
def test_no_way_is_made_up(more: str) -> None:
    program = (
        PROGRAM + more if more else PROGRAM.replace("asyncio.to_thread(self.add, name)", "self.add(name)")
    )
    search, path = searched(program + "\n\nother(Channels())\n" if more else program)
    assert way_before(search, path) == ()


def test_the_linter_says_on_which_outcome_a_thread_makes_the_call(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import asyncio\nimport torch.distributed as dist\n\n\ndef add(x):\n    dist.all_reduce(x)\n\n\n"
        "async def one(x):\n    if dist.get_rank() == 0:\n        await asyncio.to_thread(add, x)\n"
    )
    (found,) = lint([tmp_path]).flagged
    assert found.message.endswith("`if dist.get_rank() == 0:` is true")
