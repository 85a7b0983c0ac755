"""From two ways through a program to the decision that parted them. The programs run; nothing else is told."""

from __future__ import annotations

import pytest
from support.source.toy_runs import (
    case_of,
    diagnosis_of,
    locate,
    located,
    place,
    play,
    tree,
    verdict_of,
)

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Location, Verdict

LEAVES_LOOP = """
    import torch.distributed as dist

    LOSSES = {0: [3, 2, 1, 0], 1: [3, 2, 1, 0], 2: [3, 3, 3, 3]}

    def step(n):
        dist.broadcast(n, src=0)
        dist.all_reduce(n)

    def fit(losses):
        best = 9
        for n, loss in enumerate(losses):
            step(n)
            if loss >= best:  # <-
                break
            best = loss

    def main():
        fit(LOSSES[dist.get_rank()])
        dist.barrier()
"""

SKIPS_THE_REST = """
    import math
    import torch.distributed as dist

    def batch(n):
        return math.nan if dist.get_rank() == 1 and n == 2 else 1.0

    def train_step(n):
        loss = batch(n)
        dist.barrier()
        if math.isnan(loss):  # <-
            return
        dist.all_reduce(
            loss,
        )

    def main():
        for n in range(5):
            train_step(n)
        dist.barrier()
"""

CONTINUES = """
    import torch.distributed as dist

    def mine(n):
        return [] if (n, dist.get_rank()) == (3, 0) else [n]

    def main():
        for n in range(6):
            dist.broadcast(n, src=0)
            samples = mine(n)
            if not samples:  # <-
                continue
            dist.all_reduce(samples)
        dist.barrier()
"""

RETURNS_EARLY_INSIDE = """
    import torch.distributed as dist

    def report(n):
        share = n if dist.get_rank() == 1 else n + 1
        if share == 4:  # <-
            return
        dist.all_gather(share)

    def main():
        for n in range(6):
            dist.all_reduce(n)
            report(n)
"""

ON_ONE_RANK_ONLY = """
    import torch.distributed as dist

    def save(n):
        dist.barrier()

    def main():
        for n in range(4):
            dist.all_reduce(n)
            if dist.get_rank() == 2 and n == 2:  # <-
                save(n)
"""

SWALLOWED_OUTSIDE = """
    import torch.distributed as dist

    def labels(n):
        if (n, dist.get_rank()) == (2, 1):
            raise ValueError("no label")
        return n

    def step(n):
        dist.broadcast(n, src=0)
        value = labels(n)
        dist.all_reduce(value)

    def main():
        for n in range(5):
            try:
                step(n)
            except ValueError:  # <-
                continue
        dist.barrier()
"""

SWALLOWED_INSIDE = """
    import torch.distributed as dist

    def resume():
        try:
            if dist.get_rank() == 1:
                raise ValueError("truncated")
            dist.broadcast(0, src=0)
        except ValueError:  # <-
            pass

    def main():
        resume()
        for n in range(3):
            dist.all_reduce(n)
"""

WHILE_LOOP_ENDS = """
    import torch.distributed as dist

    def main():
        left = 3 + dist.get_rank()
        while left > 0:  # <-
            dist.all_reduce(left)
            left -= 1
        dist.barrier()
"""

ELSE_BRANCH = """
    import torch.distributed as dist

    def mean(values, uneven):
        if uneven:  # <-
            dist.all_gather(values)
        else:
            dist.all_reduce(values)

    def main():
        for n in range(4):
            mean([n], n == 2 and dist.get_rank() == 0)
"""


@pytest.mark.parametrize(
    ("program", "culprit"),
    [
        pytest.param(LEAVES_LOOP, 2, id="break"),
        pytest.param(SKIPS_THE_REST, 1, id="early return, call over several lines"),
        pytest.param(CONTINUES, 0, id="continue"),
        pytest.param(
            RETURNS_EARLY_INSIDE, 1, id="return inside a function called after the last common call"
        ),
        pytest.param(ON_ONE_RANK_ONLY, 2, id="one rank only"),
        pytest.param(SWALLOWED_INSIDE, 1, id="handler in the function"),
        pytest.param(WHILE_LOOP_ENDS, 0, id="while"),
        pytest.param(ELSE_BRANCH, 0, id="the two branches of an if"),
    ],
)
def test_the_decision_is_found(program: str, culprit: int) -> None:
    run = play(train=program)
    verdict = located(run, culprit)
    assert place(verdict.location) == run.marked
    assert verdict.location is not None and verdict.location.condition
    assert verdict.location.condition in verdict.sentence
    assert verdict.excerpts and any(line.mark == "condition" for line in verdict.excerpts[0].lines)


def test_a_swallowed_exception_is_found_where_it_is_caught_and_named_so() -> None:
    run = play(train=SWALLOWED_OUTSIDE)
    verdict = located(run, 1)
    assert place(verdict.location) == run.marked
    assert (verdict.cause, verdict.family) == ("swallowed_exception", "paths")


TRIED_AGAIN_OUTSIDE = """
    import torch.distributed as dist

    def rows(n):
        if dist.get_rank() == 1 and n > 3:
            raise ValueError(n)
        return [n]

    def total(n):
        dist.all_reduce(n)
        dist.all_reduce(rows(n[-1]))

    def patiently(task, n):
        while True:
            try:
                return task([n])
            except ValueError:  # <-
                n = 0

    def main():
        for n in range(9):
            patiently(total, n)
        dist.barrier()
"""


def test_a_call_tried_again_leads_to_the_handler_around_the_loop() -> None:
    run = play(train=TRIED_AGAIN_OUTSIDE)
    verdict = located(run, 1)
    assert place(verdict.location) == run.marked
    assert verdict.cause == "swallowed_exception"


def test_the_decision_is_found_in_another_module() -> None:
    run = play(
        train="""
            import torch.distributed as dist
            import saving

            def main():
                for n in range(3):
                    dist.all_reduce(n)
                    saving.save(n)
        """,
        saving="""
            import torch.distributed as dist

            def save(n):
                if dist.get_rank() == 0:  # <-
                    dist.barrier()
        """,
    )
    assert place(located(run, 0).location) == run.marked


def test_both_ways_are_marked_in_the_excerpt() -> None:
    run = play(train=ELSE_BRANCH)
    excerpt = located(run, 0).excerpts[0]
    assert excerpt.cohorts == ["1,2", "0"]
    ways = {line.text.strip(): line.cohorts for line in excerpt.lines}
    assert ways["dist.all_gather(values)"] == [1]
    assert ways["dist.all_reduce(values)"] == [0]


def test_a_decision_that_is_equal_on_all_ranks_is_not_blamed() -> None:
    """The stacks part at `if n == 2`, which cannot differ: something else must have happened, and nothing is said."""
    run = play(
        train="""
            import torch.distributed as dist

            def main():
                for n in range(4):
                    dist.all_reduce(n)
                    if n == 2:
                        dist.barrier()
        """
    )
    assert run.calls[0][3][0] == "barrier"
    run.calls[0][3:] = run.calls[0][4:]
    verdict = located(run, 0)
    assert verdict.location is None
    assert verdict.sentence == "Rank 0 parted from the others."


def test_without_the_file_nothing_is_claimed() -> None:
    run = play(train=LEAVES_LOOP)
    verdict = located(run, 2, tree({"other.py": "x = 1\n"}))
    assert verdict.location is None and verdict.excerpts == []


def test_a_source_that_changed_after_the_run_is_said_to() -> None:
    run = play(train=LEAVES_LOOP)
    changed = run.files["train.py"].replace("def fit(", "# one\n# two\n# three\n\ndef fit(")
    result = locate(case_of(run), diagnosis_of(verdict_of(run, 2)), tree({"train.py": changed}))
    assert result.verdicts[0].location is None
    assert any("changed after the run" in note.what for note in result.notes)


def test_a_rank_that_is_held_is_located_where_it_stands() -> None:
    run = play(
        train="""
            import os, time
            import torch.distributed as dist

            def wait(path):
                while not os.path.exists(path):  # <-
                    time.sleep(0.1)

            def main():
                dist.all_reduce(0)
        """
    )
    here = "/workspace/train/train.py"
    seen = {1: (("wait", here, 6), ("main", here, 9), ("<module>", here, 1))}
    verdict = verdict_of(run, 1, "host_blocked", made=False)
    found = locate(case_of(run, seen), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked


def test_a_wait_without_a_limit_among_other_things_of_a_loop_is_itself_what_holds() -> None:
    run = play(
        train="""
            import os
            import torch.distributed as dist

            def load(path, lock):
                while not os.path.exists(path):
                    if lock.mine():
                        build(path)
                    else:
                        lock.wait()  # <-

            def main():
                dist.all_reduce(0)
        """
    )
    here = "/workspace/train/train.py"
    library = ("wait", "/usr/lib/python3.11/site-packages/torch/utils/file_baton.py", 50)
    seen = {1: (library, ("load", here, 9), ("main", here, 12), ("<module>", here, 1))}
    verdict = verdict_of(run, 1, "host_blocked", made=False)
    found = locate(case_of(run, seen), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked


def test_calls_of_a_thread_are_located_and_told_with_where_the_work_is_handed_over_to_it() -> None:
    text = """
        import torch.distributed as dist
        from concurrent.futures import ThreadPoolExecutor

        class Keeper:
            def __init__(self):
                self.pool = ThreadPoolExecutor(1)

            def save(self, step):
                self.pool.submit(self._persist, step).result()

            def _persist(self, step):
                dist.all_gather(step)  # <-

            def main(self):
                for step in range(3):
                    dist.all_reduce(step)
                    self.save(step)
        def main():
            Keeper().main()
    """
    run = play(train=text)
    verdict = verdict_of(run, 1, "order_inversion")
    verdict.location = Location(file="/workspace/train/train.py", line=run.marked[1], function="_persist")
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked
    assert f"handed over at train.py:{run.marked[1] - 3}" in found.sentence


@pytest.mark.parametrize("cause", ["killed", "gpu_error", "network_stalled"])
def test_no_line_is_named_for_what_is_in_no_line(cause: str) -> None:
    run = play(train=LEAVES_LOOP)
    verdict = verdict_of(run, 2, cause)
    assert verdict.family == CAUSES[cause].family
    assert locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0].location is None


def test_a_verdict_without_a_hang_stays_as_it_is() -> None:
    run = play(train=LEAVES_LOOP)
    verdict = Verdict(
        hang=False, cause="no_hang", family="not_a_fault", confidence="established", sentence="All is well."
    )
    assert locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0].sentence == "All is well."
