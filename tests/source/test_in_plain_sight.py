"""The one decision between two ways that ranks took, of which nothing shows that it can differ."""

from __future__ import annotations

from msgspec.structs import replace
from support.source.toy_runs import case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.diagnosis import Call, Cohort, Divergence
from rankandfile.model.ledger import call_id

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


TALLY = """
    import torch.distributed as dist

    class Tally:
        def __init__(self):
            self.values = {}

        def save(self, name, value):
            self.values[name] = value

        def total(self):
            if not self.values:  # <-
                return
            dist.all_gather(self.values)
            self.values.clear()

    TALLY = Tally()
"""

STAGES_OF_A_PIPELINE = """
    import torch.distributed as dist
    from tally import TALLY

    def forward(stage, step):
        if stage or step < 6:
            TALLY.save("entropy", step)

    def hand_on(step):
        if step == 8:
            dist.recv(step)

    def main():
        stage = dist.get_rank()
        for step in range(12):
            forward(stage, step)
            hand_on(step)
            for parameter in range(2 + stage):
                dist.all_reduce(parameter)
            if step % 2:
                TALLY.total()
"""


def test_a_stage_is_held_against_its_own_rounds() -> None:
    """Stages have other numbers of parameters, so that the one's calls show nothing of what was due on the other."""
    run = play(2, train=STAGES_OF_A_PIPELINE, tally=TALLY)
    (waits,) = [n for n, (op, _) in enumerate(run.calls[1]) if op == "all_gather"][3:4]
    run.calls[1] = run.calls[1][: waits + 1]
    at = next(n for n, (op, _) in enumerate(run.calls[0]) if op == "recv")
    seen = run.calls[0][at][1]
    run.calls[0] = run.calls[0][:at]
    function, file, line = run.calls[1][waits][1][0]
    call = Call(
        op="all_gather", seq=waits + 1, file=file, line=line, function=function, evidence=[call_id(1, waits)]
    )
    cohorts = [Cohort(ranks="1", call=call), Cohort(ranks="0")]
    missing = Divergence(group="0", seq=waits + 1, kind="skipped", cohorts=cohorts)
    verdict = replace(verdict_of(run, 0), divergence=missing)
    found = locate(case_of(run, {0: seen}), diagnosis_of(verdict), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked, found.sentence
