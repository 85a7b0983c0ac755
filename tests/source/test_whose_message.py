"""Where the evidence shows a transfer or a broadcast that nobody is to blame for: whom the code names, and whom not."""

from __future__ import annotations

from typing import Any

import pytest
from support.source.toy_runs import FOLDER, Frames, Run, case_of, diagnosis_of, locate, play, tree

from rankandfile.model.diagnosis import Call, Cohort, Confidence, Divergence, Verdict
from rankandfile.model.ledger import call_id

PIPELINE = """import torch.distributed as dist

class Pipeline:
    def __init__(self, shed):
        self.rank = dist.get_rank()
        self.shed = shed

    def rounds(self):
        return 4 - (1 if {test} and self.shed else 0)

    def run(self, x):
        for index in range(self.rounds()):
            if self.rank > 0:
                dist.recv(x, src=self.rank - 1)  # forward
            dist.send(x, dst=self.rank + 1)
        for index in range(4):
            dist.recv(x, src={after})  # backward
            dist.send(x, dst=self.rank - 1)

def main(x):
    Pipeline(x.shed).run(x)  # run
"""

BATCH = """import torch.distributed as dist

def exchange(mine, theirs):
    operations = []
    for neighbour in (dist.get_rank() - 1, dist.get_rank() + 1):
        if mine[1] != 2 or neighbour < dist.get_rank():
            operations.append(dist.P2POp(dist.isend, mine, neighbour))
        {indent}operations.append(dist.P2POp(dist.irecv, theirs, {peer}))
    for work in dist.batch_isend_irecv(operations):
        work.wait()  # wait

def step(mine, theirs):
    dist.all_reduce(mine)  # before
    exchange(mine, theirs)  # exchange
    mine.backward()  # go on
"""


def stuck(text: str, *stands: tuple[str, ...]) -> Verdict:
    """One rank for each of `stands`: the marks of its frames' lines, innermost first."""
    before = [("all_reduce", (_frame(text, "before"),))] if "# before" in text else []
    run = Run({"train.py": text}, dict.fromkeys(range(len(stands)), before))
    seen = {rank: tuple(_frame(text, mark) for mark in marks) for rank, marks in enumerate(stands)}
    verdict = Verdict(
        hang=True,
        cause="skipped_collective",
        family="paths",
        confidence="hypothesis",
        sentence="Every rank sits in a transfer.",
        victims=f"0-{len(stands) - 1}",
    )
    return locate(case_of(run, seen), diagnosis_of(verdict), tree(run.files)).verdicts[0]


def _frame(text: str, mark: str) -> tuple[str, str, int]:
    lines = text.splitlines()
    number = next(n for n, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))
    above = [line for line in lines[:number] if line.lstrip().startswith("def ")]
    return above[-1].lstrip()[4:].partition("(")[0], FOLDER + "train.py", number


def blamed(verdict: Verdict) -> list[int]:
    return [culprit.rank for culprit in verdict.culprits]


STANDS = [("backward", "run"), ("backward", "run"), ("backward", "run"), ("forward", "run")]


def pipeline(test: str = "self.rank == 2", after: str = "self.rank + 1") -> Verdict:
    return stuck(PIPELINE.replace("{test}", test).replace("{after}", after), *STANDS)


def test_of_two_that_wait_for_each_other_the_one_that_leaves_its_loop_early() -> None:
    verdict = pipeline()
    assert (blamed(verdict), verdict.confidence, verdict.victims) == ([2], "supported", "0,1,3")
    assert "rank 2 waits for a message of rank 3" in verdict.sentence
    assert verdict.location is not None
    assert verdict.location.condition == "for index in range(self.rounds()):"


def test_or_the_one_that_stays_too_long() -> None:
    assert blamed(pipeline("self.rank == 3")) == [3]


@pytest.mark.parametrize(
    "change",
    [{"test": "self.shed"}, {"test": "self.rank >= 2"}, {"test": "self.rank == 1"}, {"after": "x.peer"}],
    ids=["nobody singled out", "both", "a third", "a sender that nothing tells"],
)
def test_no_loop_singles_one_of_them_out(change: dict[str, str]) -> None:
    assert blamed(pipeline(**change)) == []


WAITING = [("go on",), ("go on",), ("go on",), ("wait", "exchange")]


def batch(indent: str = "", peer: str = "neighbour", stands: list[tuple[str, ...]] = WAITING) -> Verdict:
    return stuck(BATCH.replace("{indent}", indent).replace("{peer}", peer), *stands)


def test_whoever_a_message_is_waited_for_from_left_its_send_out() -> None:
    verdict = batch()
    assert (blamed(verdict), verdict.confidence, verdict.victims) == ([2], "supported", "0,1,3")
    assert "there rank 3 can only wait for a message of rank 2" in verdict.sentence


def test_a_receive_that_the_same_test_leaves_out_is_waited_for_by_nobody() -> None:
    assert blamed(batch(indent="    ")) == []


@pytest.mark.parametrize(
    "how",
    [
        {"peer": "theirs.source"},
        {"stands": [("go on",), ("go on",), ("wait", "exchange"), ("go on",)]},
        {"stands": [("go on",), ("go on",), ("wait", "exchange"), ("wait", "exchange")]},
    ],
    ids=["nothing tells the sender", "two that it may be", "both sides wait there"],
)
def test_a_sender_that_is_not_sure_is_not_blamed(how: dict[str, Any]) -> None:
    assert blamed(batch(**how)) == []


ROOT = """import torch.distributed as dist

def main():
    source = {source}
    dist.broadcast(None, src=source)
"""


def broadcast(
    source: str, done: str = "0,5", waiting: str = "1-4,6-7", confidence: Confidence = "hypothesis"
) -> Verdict:
    run = play(8, train=ROOT.replace("{source}", source))
    way: Frames = run.calls[0][0][1]

    def cohort(ranks: str, rank: int, words: str) -> Cohort:
        call = Call(
            op="broadcast", seq=1, file=way[0][1], line=way[0][2], detail=words, evidence=[call_id(rank, 0)]
        )
        return Cohort(ranks=ranks, call=call)

    verdict = Verdict(
        hang=True,
        cause="root_mismatch",
        family="arguments",
        confidence=confidence,
        sentence="Some are done.",
        victims="0-7",
        divergence=Divergence(
            group="0", seq=1, kind="argument",
            cohorts=[cohort(done, int(done[0]), "done"), cohort(waiting, int(waiting[0]), "waits")],
        ),
    )  # fmt: skip
    return locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]


OWN = "dist.get_rank() if hash('x') % 2 else 0"


def test_whoever_is_done_beside_the_usual_root_named_itself() -> None:
    verdict = broadcast(OWN)
    assert (blamed(verdict), verdict.confidence) == ([5], "supported")
    assert "each member names rank 0 or itself" in verdict.sentence


@pytest.mark.parametrize(
    ("source", "done", "waiting"),
    [
        ("0", "0,5", "1-4,6-7"),
        ("dist.get_rank()", "0,5", "1-4,6-7"),
        ("int(open('best').read()) if hash('x') is None else 0", "0,5", "1-4,6-7"),
        (OWN, "3,5", "0-2,4,6-7"),
        (OWN, "0,4-7", "1-3"),
    ],
    ids=["all name the same", "each its own", "anybody", "the usual root waits", "as many as wait"],
)
def test_what_the_code_does_not_decide_blames_nobody(source: str, done: str, waiting: str) -> None:
    assert blamed(broadcast(source, done, waiting)) == []


def test_source_that_is_hostile_decides_nothing() -> None:
    assert blamed(broadcast("+".join(["dist.get_rank()"] * 200))) == []


ODD = "1 if rank == 2 else 0"


def odd_root(source: str = ODD, waiting: str = "0,2", confidence: Confidence = "established") -> Verdict:
    """The evidence has shown that rank 1 named another root than those that wait."""
    return broadcast(f"0\n    rank = dist.get_rank()\n    source = {source}", "1", waiting, confidence)


def test_the_code_gives_one_rank_another_root() -> None:
    verdict = odd_root()
    assert (verdict.cause, blamed(verdict)) == ("root_mismatch", [2])
    assert verdict.sentence.endswith("depends on the rank's own number.")
    assert "The code gives rank 2 another one." in verdict.sentence


@pytest.mark.parametrize(
    "how",
    [
        {"source": "1 if rank == 2 or rank == 3 else 0"},
        {"source": "1 if rank % 4 == 2 else 0"},
        {"waiting": "0,3"},
        {"confidence": "supported"},
    ],
    ids=["two ranks", "arithmetic on the rank", "a rank that does not disagree", "not proved to disagree"],
)
def test_another_root_that_is_not_surely_one_rank_s_blames_nobody(how: dict[str, Any]) -> None:
    assert blamed(odd_root(**how)) == []
