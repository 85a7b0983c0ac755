"""A framework's loop that ended on one rank alone: the program's one handler that may have ended it."""

from __future__ import annotations

import pytest
from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.diagnosis import Verdict

ENGINE = """
import torch.distributed as dist


class Engine:
    def __init__(self, step):
        self.step, self.handlers, self.over = step, [], False

    def add_event_handler(self, event, handler):
        self.handlers.append((event, handler))

    def terminate(self):
        self.over = True

    def run(self, data):
        return self._internal_run_as_gen(data)

    def _internal_run_as_gen(self, data):
        for epoch in range(2):
            self._run_once_on_dataset_as_gen(data)
            self._fire_event("epoch_completed")
            if self.over:
                break

    def _run_once_on_dataset_as_gen(self, data):
        for batch in data:
            self.output = self.step(self, batch)
            self._fire_event("iteration_completed")
            if self.over:
                break

    def _fire_event(self, event):
        for name, handler in self.handlers:
            if name == event:
                handler(self)
"""

HANDLERS = """
class TerminateOnNan:
    def __call__(self, engine):
        if engine.output != engine.output:
            engine.terminate()


class TimeLimit:
    def __call__(self, engine):
        pass
"""

TRAIN = """
import torch.distributed as dist
from ignite.engine import Engine
from ignite.handlers import TerminateOnNan, TimeLimit


def step(engine, batch):
    dist.all_reduce(batch)
    return batch


def save(engine):
    dist.barrier()


def main():
    trainer = Engine(step)
    trainer.add_event_handler("iteration_completed", TerminateOnNan())  # <-
    trainer.add_event_handler("epoch_completed", save)
    trainer.run([1.0, float("nan") if dist.get_rank() == 1 else 2.0, 3.0])
"""

OWN = (
    TRAIN.replace("  # <-", "")
    .replace("TerminateOnNan()", "stop")
    .replace(
        "def save",
        "def stop(engine: Engine):\n    if engine.output != engine.output:  # <-\n"
        "        engine.terminate()\n\n\ndef save",
    )
)

GUARDED = OWN.replace(
    "    if engine.output != engine.output:  # <-\n        engine.terminate()",
    "    if engine.output == engine.output:  # <-\n        return\n    engine.terminate()",
)


def ended(program: str) -> tuple[Verdict, tuple[str, int] | None]:
    engine = f'import sys\n{ENGINE}\n\nsys.modules["ignite.engine"] = sys.modules[__name__]\n'
    handlers = f'import sys\n{HANDLERS}\n\nsys.modules["ignite.handlers"] = sys.modules[__name__]\n'
    folder = "site-packages/ignite/"
    run = play(**{f"{folder}engine": engine, f"{folder}handlers": handlers, "train": program})
    files = tree({"train.py": run.files["train.py"]})
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), files).verdicts[0]
    return found, run.marked if "# <-" in program else None


@pytest.mark.parametrize(
    "program", [TRAIN, OWN, GUARDED], ids=["of the framework", "of the user", "behind a return"]
)
def test_the_one_handler_that_may_have_ended_the_loop_is_the_line(program: str) -> None:
    verdict, marked = ended(program)
    assert place(verdict.location) == marked
    assert "Rank 1 came out of Ignite's loop, which ranks 0,2 are in" in verdict.sentence


def test_who_has_come_out_of_the_loop_to_a_call_of_its_own_left_early() -> None:
    """The two go apart in the program's function, one into the framework's loop and one past it."""
    verdict, marked = ended(
        f"{TRAIN}    dist.all_gather(1.0)\n".replace('"epoch_completed", save', '"never", save')
    )
    assert (place(verdict.location), verdict.cause) == (marked, "early_exit")
    assert "Rank 1 came out of Ignite's loop, which ranks 0,2 are in" in verdict.sentence


def test_of_two_handlers_that_may_have_ended_it_neither_is_the_line() -> None:
    second = '    trainer.add_event_handler("iteration_completed", TimeLimit())\n    trainer.run'
    verdict, _ = ended(TRAIN.replace("    trainer.run", second))
    assert "came out of Ignite's loop" not in verdict.sentence
    assert verdict.location is None or "add_event_handler" not in str(verdict.location)
