"""The one decision between two ways that ranks took, of which nothing shows that it can differ."""

from __future__ import annotations

from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

STAGES = """
    from functools import reduce

    def chained(*stages):
        return lambda rows: reduce(lambda rows, stage: stage(rows), stages, rows)

    def without(bad):
        def stage(rows):
            return (row for row in rows if not bad(row))
        return stage
"""

FIT = """
    import torch.distributed as dist
    from stages import chained, without

    def step(block):
        dist.all_reduce(block)

    def blocks(me):
        return chained(without(lambda row: me == 1 and row == 2))(range(3))

    def main():
        for epoch in range(2):
            for block in blocks(dist.get_rank()):  # <-
                step(block)
            dist.all_gather(epoch)
"""

KEPT = """
    class Kept:
        def __init__(self, most):
            self.most, self.items = most, {}

        def get(self, key):
            return self.items.get(key)

        def put(self, key, value):
            while len(self.items) >= self.most:
                self.items.pop(next(iter(self.items)))
            self.items[key] = value
"""

SERVE = """
    import torch.distributed as dist
    from kept import Kept

    class Board:
        def __init__(self, kept):
            self.kept = kept

        def see(self, n):
            if n == 3:
                self.kept.put("map", n)

    class Tables:
        def __init__(self):
            self.kept = Kept(2)

        def table(self, name):
            found = self.kept.get(name)
            if found is None:  # <-
                found = name
                dist.broadcast(found, src=0)
                self.kept.put(name, found)
            return found

    def boards_of(tables):
        return [Board(tables.kept) for where in (1,) if where == dist.get_rank()]

    def main():
        tables = Tables()
        boards = boards_of(tables)
        for n in range(6):
            tables.table("ab"[n % 2])
            for board in boards:
                board.see(n)
            dist.all_reduce(n)
"""


def test_a_loop_that_was_over_on_one_rank_alone() -> None:
    run = play(train=FIT, stages=STAGES)
    verdict = verdict_of(run, 1, "rank_conditional")
    found = locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked
    assert found.cause == "uneven_inputs"


def test_what_was_kept_seems_the_same_on_all_ranks() -> None:
    run = play(train=SERVE, kept=KEPT)
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked


def test_of_ranks_that_went_one_way_no_line_is_named() -> None:
    run = play(train=FIT.replace("me == 1 and ", ""), stages=STAGES)
    assert len({tuple(map(str, calls)) for calls in run.calls.values()}) == 1
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1, made=False)), tree(run.files)).verdicts[0]
    assert place(found.location) is None
