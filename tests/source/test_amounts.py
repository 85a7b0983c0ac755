"""Two ranks disagree on an amount, and one of them changed its own: what the source says of which of them is wrong."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from support.source.toy_runs import Run, case_of, diagnosis_of, locate, place, play, tree, verdict_of

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Alternative, Call, Cohort, Divergence, Verdict
from rankandfile.model.ledger import call_id
from rankandfile.model.ranks import format_ranks

PLANNED = """
import torch.distributed as dist


class Plan:
    def __init__(self, edges, rank):
        self.takes = [len([e for e in edges if e[1] == rank])]
        self.sends = [{sends}]


class Exchange:
    def __init__(self, edges):
        self.edges, self.rank = edges, dist.get_rank()
        self.plan = Plan(edges, self.rank)

    def on_news(self, edge):
        self.edges.append(edge)
        {test}  # <-
            self.plan = Plan(self.edges, self.rank)

    def __call__(self, x):
        plan = self.plan
        dist.all_gather(x, x, plan.takes, plan.sends)


def main():
    exchange = Exchange([(0, 1), (1, 2), (2, 0)])
    for n in range(4):
        exchange.on_news((0, 2))
        exchange(n)
"""
SHARED = "len([e for e in edges if e[0] == rank])"


def last_call(run: Run, ranks: list[int]) -> Cohort:
    at = len(run.calls[ranks[0]]) - 1
    op, ((function, file, line), *_) = run.calls[ranks[0]][at]
    evidence = [call_id(ranks[0], at)]
    call = Call(op=op, seq=at + 1, file=file, line=line, function=function, evidence=evidence)
    return Cohort(ranks=format_ranks(ranks), call=call)


def disagreeing(sends: str = SHARED, test: str = "if edge[0] == self.rank:") -> tuple[Run, Verdict]:
    """Rank 0 sends another amount than before, and rank 2 expects what it did."""
    run = play(3, train=PLANNED.format(sends=sends, test=test))
    verdict = verdict_of(run, 0)
    verdict = msgspec.structs.replace(
        verdict,
        cause="split_mismatch",
        family=CAUSES["split_mismatch"].family,
        culprits=[],
        victims="0-2",
        divergence=Divergence(
            group="0", seq=4, kind="argument", cohorts=[last_call(run, ranks) for ranks in ([1, 2], [0])]
        ),
        alternatives=[
            Alternative(cause="split_mismatch", confidence="hypothesis", sentence="", culprits=rank)
            for rank in ("0", "2")
        ],
    )
    return run, verdict


def told(run: Run, verdict: Verdict) -> Verdict:
    return locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]


def test_who_did_not_make_anew_what_all_could_make_is_out_of_date() -> None:
    run, verdict = disagreeing()
    verdict = told(run, verdict)
    assert place(verdict.location) == run.marked
    assert [one.rank for one in verdict.culprits] == [2]
    assert "rank 0 made it anew, and what rank 2 has is out of date" in verdict.sentence


@pytest.mark.parametrize(
    ("sends", "test"),
    [
        ("max(open(f'/tmp/rows{rank}').read())", "if edge[0] == self.rank:"),
        (SHARED, "if len(self.edges) > 4:"),
    ],
    ids=["it is made from its own data", "all make it anew"],
)
def test_a_change_upon_own_data_and_one_that_all_make_blame_nobody(sends: str, test: str) -> None:
    run, verdict = disagreeing()
    changed = {"train.py": PLANNED.format(sends=sends, test=test).lstrip("\n")}
    assert told(replace(run, files=changed), verdict).culprits == []
