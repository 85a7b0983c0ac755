"""Who stands in a hook that a framework calls upon an exception has raised; its log may tell where."""

from __future__ import annotations

import polars as pl
from msgspec.structs import replace
from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.case import Case
from rankandfile.model.diagnosis import Verdict
from rankandfile.model.tables import schema

FRAMEWORK = """
class Callback:
    pass

class Trainer:
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def fit(self, step, rows):
        try:
            for row in rows:
                step(row)
        except Exception as error:
            for callback in self.callbacks:
                callback.on_exception(self, None, error)
            raise SystemExit(1)
"""

PROGRAM = """
import torch.distributed as dist
from lightning import Callback, Trainer


class Broken(ValueError):
    pass


class Rescue({base}):
    def on_exception(self, trainer, module, exception):{hook}
        print("interrupted", exception)
        dist.barrier()


def unpack(row):
    if row == 2 and dist.get_rank() == 1:{mark}
        raise Broken(f"record of {{row}} bytes cannot be unpacked")
    return row


def step(row):
    unpack(row)
    dist.all_reduce(row)


def main():
    rows = [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [5, 4, 3, 0, 1]][dist.get_rank()]
    Trainer([Rescue()]).fit(step, rows)
"""

FIRST_WORDS = "interrupted record of 2 bytes cannot be unpacked"


def stopped(
    base: str = "Callback", hook: str = "", mark: str = "", words: str = FIRST_WORDS
) -> tuple[Verdict, tuple[str, int] | None]:
    program = PROGRAM.format(base=base, hook=hook, mark=mark)
    run = play(3, **{"site-packages/torch/lightning": FRAMEWORK, "train": program})
    case = with_own_line(case_of(run), words)
    found = locate(case, diagnosis_of(verdict_of(run, 1)), tree({"train.py": run.files["train.py"]}))
    return found.verdicts[0], run.marked if "# <-" in hook + mark else None


def with_own_line(case: Case, text: str) -> Case:
    columns = schema("events")
    rows = [
        {"log": rank, "line": 9, "rank": rank, "kind": kind, "text": said}
        for rank, kind, said in (
            (1, "own_last_line", text),
            (0, "progress", "step 1"),
            (2, "progress", "step 1"),
        )
    ]
    events = pl.DataFrame([{c: row.get(c) for c in columns} for row in rows], schema=columns)
    return replace(case, events=events)


def test_the_raise_is_the_one_whose_words_the_rank_alone_wrote() -> None:
    verdict, marked = stopped(mark="  # <-")
    assert place(verdict.location) == marked
    assert verdict.cause == "raised"
    assert "calls on_exception upon an exception alone" in verdict.sentence


def test_where_no_log_tells_the_hook_is_the_line() -> None:
    verdict, marked = stopped(hook="  # <-", words="saving what there is")
    assert (place(verdict.location), verdict.cause) == (marked, "raised")


def test_a_method_of_that_name_that_no_framework_calls_says_nothing() -> None:
    verdict, _ = stopped(base="object")
    assert "upon an exception alone" not in verdict.sentence and verdict.cause != "raised"
