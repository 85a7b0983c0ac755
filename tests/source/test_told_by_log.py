"""Who came through a handler, by the line that it wrote there and no other rank did; and which call wrote a line."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from support.source.own_lines import with_lines
from support.source.toy_runs import (
    FOLDER,
    Frames,
    Run,
    case_of,
    diagnosis_of,
    locate,
    place,
    play,
    remarked,
    tree,
    undecided,
    verdict_of,
)

import rankandfile
from rankandfile.model.diagnosis import Verdict, Wait
from rankandfile.source.program.log_lines import written_by
from rankandfile.source.program.modules import Program

TORCH = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"
PROGRAM = """
import torch.distributed as dist


class BadRow(ValueError):
    pass


def rows(me, n):
    found = open(f"part{me}").readlines()
    if not found[n]:
        raise BadRow(f"row {n} of the part is empty")
    return found[n]


def push(row):
    dist.send(row, dst=0)  # sends


def work(me, weights, log):
    for n in range(9):
        dist.broadcast(weights, src=0)  # shares
        try:
            push(rows(me, n))  # pushes
        except BadRow as problem:  # keeps
            {writes}


def serve(weights):
    for n in range(9):
        dist.broadcast(weights, src=0)  # gives
        for worker in (1, 2, 3):
            dist.recv(weights, src=worker)  # takes
"""
LINE = "WARNING rank 2 leaves out its batch 4: row 4 of the part is empty"
DIRECT = 'log.warning("rank %d leaves out its batch %d: %s", me, n, problem)'


def stuck(writes: str, *said: tuple[int, str]) -> Verdict:
    """Rank 0 waits for a message, rank 3 for its own to be taken; ranks 1 and 2 are in the next broadcast."""
    text = PROGRAM.replace("{writes}", writes).lstrip("\n")
    at, train = partial(remarked, text), f"{FOLDER}train.py"
    shares: Frames = (("work", train, at("shares")),)
    stand: dict[int, Frames] = {
        0: (("recv", TORCH, 1), ("serve", train, at("takes"))),
        1: shares,
        2: shares,
        3: (("send", TORCH, 1), ("push", train, at("sends")), ("work", train, at("pushes"))),
    }
    gives: Frames = (("serve", train, at("gives")),)
    calls = {0: [("broadcast", gives)], 1: [("broadcast", shares)] * 2, 2: [("broadcast", shares)] * 2,
             3: [("broadcast", shares)]}  # fmt: skip
    run = Run({"train.py": text}, calls)
    case = with_lines(case_of(run, stand), *said)
    verdict = undecided(run, Wait(ranks="1,2", waits_for="0,3", group="0"))
    return locate(case, diagnosis_of(verdict), tree(run.files)).verdicts[0]


def test_who_alone_wrote_what_the_handler_writes_came_through_it() -> None:
    verdict = stuck(DIRECT, (2, LINE), (0, "the server has begun with round 4"))
    assert [one.rank for one in verdict.culprits] == [2]
    assert (verdict.cause, verdict.confidence) == ("swallowed_exception", "supported")
    assert f'rank 2 alone wrote "{LINE}"' in verdict.sentence
    assert "On rank 2 an exception" in verdict.sentence and "L0:0" in verdict.evidence


@pytest.mark.parametrize(
    ("writes", "said"),
    [
        (DIRECT, ()),
        (DIRECT, ((2, LINE),)),  # of no other rank is there a log
        (DIRECT, ((2, "rank 2 has been told to go on"), (0, "begun"))),  # no such line
        (f"if n > 3:\n                {DIRECT}", ((2, LINE), (0, "begun"))),  # decided once more
    ],
    ids=["no log", "one log", "another line", "not by all"],
)
def test_nobody_is_said_to_have_caught_anything_where_no_log_shows_it(
    writes: str, said: tuple[tuple[int, str], ...]
) -> None:
    """Rank 1, which is ahead, may have sent its message as it should: gloo's recorder keeps none."""
    verdict = stuck(writes, *said)
    assert not verdict.culprits
    assert "an exception was caught" not in verdict.sentence and "nothing shows" in verdict.sentence


KEPT = """
import torch.distributed as dist
from contextlib import contextmanager


class Budget:
    spent = 0

    @contextmanager
    def attempt(self, row):
        try:
            yield
        except ValueError:  # keeps
            log("left out row", row)
            self.spent += 1
            if self.spent > 9:
                raise


class Step:
    def __call__(self, loss):
        dist.all_reduce(loss)


def log(*words):
    print(*words)


def loss_of(row):
    if row == 5 and dist.get_rank() == 2:
        raise ValueError
    return row


def main():
    budget, step = Budget(), Step()
    for row in range(12):
        with budget.attempt(row):
            step(loss_of(row))
        if row % 4 == 3:
            dist.all_gather([], row)
"""


def test_a_context_manager_of_the_programs_own_kept_it_by_what_its_handler_wrote() -> None:
    run = play(train=KEPT)
    case, said = case_of(run), diagnosis_of(verdict_of(run, 2))
    heard = with_lines(case, (2, "left out row 5"), (0, "begun with row 0"))
    kept, unheard = (locate(each, said, tree(run.files)).verdicts[0] for each in (heard, case))
    handler = ("train.py", remarked(run.files["train.py"], "keeps"))
    assert (place(kept.location), kept.cause) == (handler, "swallowed_exception")
    assert place(unheard.location) != handler
    innocent = with_lines(case, (0, "left out row 1"), (1, "begun with row 0"))
    told = locate(innocent, said, tree(run.files)).verdicts[0]
    assert place(told.location) != handler and "rank 0 an exception" not in told.sentence


WRITERS = """
import logging

def first(n):
    print(f"skipping the shard {n}, as it is empty")

def second(n):
    logging.info("keeping %d of the last %s", n, "files")

def third(n):
    note("resumed from step {} by itself".format(n))

def fourth(n):
    print("seen " + str(n) + " rows of it")

def fifth(n):
    logging.error("giving up: %s", ValueError(f"shard {n} has no rows"))

def seventh(fn, problem, n):
    print(f"{fn}: {problem!r}, attempt {n} of {9}")

def eighth(n):
    print(f"{n}: {n}")

def sixth(n):
    print(f"trying again in {n} s")
    print(f"trying again in {n} s")
"""


@pytest.mark.parametrize(
    ("line", "writer"),
    [
        ("INFO skipping the shard 12, as it is empty", "first"),
        ("keeping 3 of the last files", "second"),
        ("resumed from step 40 by itself", "third"),
        ("seen 77 rows of it", "fourth"),
        ("ERROR giving up: shard 3 has no rows", "fifth"),
        ("read: OSError('stale'), attempt 1 of 3", "seventh"),  # a word, and enough around it
        ("read: attempt", None),
        ("trying again in 3 s", None),  # two do
        ("keeping nothing", None),
    ],
)
def test_which_call_wrote_a_line(line: str, writer: str | None) -> None:
    found = written_by(Program(tree({"train.py": WRITERS})), line)
    assert (found.function.name if found is not None else None) == writer


def test_a_rank_of_which_only_the_launchers_tag_is_known_is_told_by_the_others(tmp_path: Path) -> None:
    """Torchrun's `[default2]:` is a rank within its node; what the other lines tell of both says which rank it is."""
    word = "[default{n}]:[rank{rank}]:[E1128 00:52:06.75680589{n} ProcessGroupNCCL.cpp:722] [Rank {rank}] Watchdog "
    word += (
        "caught collective operation timeout: WorkNCCL(SeqNum=35, OpType=BROADCAST, NumelIn=20, NumelOut=20, "
    )
    word += "Timeout(ms)=900000) ran for 900086 milliseconds before timing out.\n"
    lines = [word.format(n=n, rank=n + 4) for n in (0, 1, 3)]
    (tmp_path / "node1.log").write_text(f"[default2]:{LINE}\n" + "".join(lines))
    (own,) = rankandfile.load(tmp_path).own_last_lines
    assert (own["rank"], own["text"]) == (6, LINE)
