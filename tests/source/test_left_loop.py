"""Stages of a pipeline, whose transfers nobody recorded: the one that went round a loop another number of times."""

from __future__ import annotations

from functools import partial

import msgspec
import pytest
from support.source.toy_runs import (
    FOLDER,
    Frames,
    Run,
    case_of,
    diagnosis_of,
    locate,
    place,
    remarked,
    tree,
    undecided,
)

from rankandfile.model.diagnosis import Cohort, Divergence, Verdict, Wait
from rankandfile.model.ranks import format_ranks

TORCH = "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py"
PROGRAM = """
import logging
import torch.distributed as dist
from torch.utils.data import DataLoader

log = logging.getLogger("train")


class Stage:
    def __init__(self):
        self.rank, self.rounds = dist.get_rank(), 4
        self.loader = DataLoader(open(f"part{{self.rank}}").readlines())

    first = property(lambda self: self.rank == 0)

    def items(self):
        if self.first:
            yield from self.loader  # own
        else:
            for _ in range(self.rounds):  # common
                yield dist.recv(0)

    def fed(self, rows):
        if self.first:
            return kept(rows)
        return {rest}

    def run(self):
        {first}
        seen = []
        for item in {items}:
            {left_out}
                pass
            dist.send(item)  # inside
        dist.recv(0)  # past


def kept(rows):
    for row in rows:
        if {keeps}:  # kept
            yield row


def main():
    Stage().run()
    dist.barrier()  # end


main()  # main
"""


def stuck(
    where: dict[int, str],
    items: str = "self.items()",
    transfer: str = "recv",
    left_out: str = "if True:",
    first: str = "",
    within: Frames = (),
    keeps: str = "row.any()",
    rest: str = "(None for _ in range(self.rounds))",
    hang: bool | None = True,
) -> Verdict:
    """Each rank at the line that has the remark; who is at the end waits in a barrier, the others in a transfer."""
    text = PROGRAM.format(items=items, left_out=left_out, first=first, keeps=keeps, rest=rest).lstrip("\n")

    at = partial(remarked, text)

    loop = next(n for n, line in enumerate(text.splitlines(), 1) if "for item in" in line)

    def frames(remark: str) -> Frames:
        main = ("main", f"{FOLDER}train.py", at("end") - (remark != "end"))
        outer = (main, ("<module>", f"{FOLDER}train.py", at("main")))
        if remark == "end":
            return outer
        inner = (("items", f"{FOLDER}train.py", at(remark) + 1),) if remark == "common" else ()
        line = loop if remark == "common" else at(remark)
        return ((transfer, TORCH, 1), *within, *inner, ("run", f"{FOLDER}train.py", line), *outer)

    run = Run({"train.py": text}, {rank: [] for rank in where})
    for rank, remark in where.items():
        if remark == "end":
            run.calls[rank].append(("barrier", frames(remark)))
    waits = Wait(ranks="0", waits_for="1,2", group="0")
    verdict = msgspec.structs.replace(undecided(run, waits), hang=hang)
    case = case_of(run, {rank: frames(remark) for rank, remark in where.items()})
    found = locate(case, diagnosis_of(verdict), tree(run.files)).verdicts[0]
    if found.location is not None:
        assert place(found.location) in [
            ("train.py", at("own")),
            ("train.py", at("common")),
            ("train.py", at("kept")),
            ("train.py", loop),
        ]
    return found


def named(verdict: Verdict) -> list[int]:
    return [one.rank for one in verdict.culprits]


def test_who_alone_has_left_a_loop_that_the_others_wait_in_went_round_fewer_times() -> None:
    verdict = stuck({0: "past", 1: "common", 2: "common"})
    assert named(verdict) == [0] and verdict.cause == "uneven_inputs"
    assert verdict.location is not None and "self.loader" in (verdict.location.condition or "")
    assert "Rank 0 has left the loop at train.py:30, and ranks 1,2 are still in it" in verdict.sentence


def test_who_alone_waits_for_more_may_wait_for_what_another_left_out() -> None:
    assert not named(stuck({0: "past", 1: "past", 2: "common"}))


def test_where_a_round_may_be_left_out_nobody_went_round_fewer_times() -> None:
    ways = {0: "past", 1: "common", 2: "common"}
    assert named(stuck(ways, left_out="if not item:")) == [0]
    assert not named(stuck(ways, left_out="if not item:\n                continue\n            if True:"))


def test_of_two_the_source_says_whose_number_is_its_own() -> None:
    verdict = stuck({0: "past", 1: "common"})
    assert named(verdict) == [0]
    assert not named(stuck({0: "past", 1: "common"}, items="self.loader"))


def test_a_send_that_nobody_takes_does_not_say_who_is_out_of_step() -> None:
    assert not named(stuck({0: "past", 1: "inside", 2: "past"}, items="range(self.rounds)", transfer="send"))


def test_a_loop_that_is_counted_by_the_rank_is_left_by_each_in_its_own_time() -> None:
    ways = {0: "inside", 1: "inside", 2: "past"}
    assert named(stuck(ways, items="range(self.rounds)")) == [2]
    assert not named(stuck(ways, items="range(2 - self.rank)"))


def test_of_a_number_of_which_nothing_is_known_an_end_of_the_pipeline_may_have_its_own() -> None:
    unknown = "range(open('rounds').fileno())"
    assert named(stuck({0: "inside", 1: "past", 2: "inside"}, items=unknown)) == [1]
    assert not named(stuck({0: "inside", 1: "inside", 2: "past"}, items=unknown))


def test_who_has_come_back_from_the_function_of_the_loop_has_left_it_too() -> None:
    ways = {0: "inside", 1: "inside", 2: "end"}
    assert named(stuck(ways, items="range(self.rounds)")) == [2]
    assert not named(stuck(ways, items="range(self.rounds)", first="if self.loader.dataset: return"))


def test_a_step_of_a_schedule_of_torch_is_made_equally_often_at_both_ends() -> None:
    ways, unknown = {0: "inside", 1: "inside", 2: "end"}, "range(open('rounds').fileno())"
    step = (("step", TORCH.replace("distributed_c10d", "pipelining/schedules"), 1),)
    assert named(stuck(ways, items=unknown, transfer="_wait_batch_p2p", within=step)) == [2]
    assert not named(stuck(ways, items=unknown, transfer="_wait_batch_p2p"))


def test_what_is_only_kept_in_a_list_or_logged_leaves_nothing_out() -> None:
    ways = {0: "past", 1: "common", 2: "common"}
    kept = "if next(iter(self.loader)):\n                seen.append(item)\n            if True:"
    for what in ("seen.append", "log.info"):
        assert named(stuck(ways, left_out=kept.replace("seen.append", what))) == [0]
    assert not named(stuck(ways, left_out=kept.replace("seen.append", "self.give")))


def test_a_stage_that_alone_leaves_items_out_goes_round_fewer_times_than_the_others() -> None:
    ways, fed = {0: "past", 1: "inside", 2: "inside"}, "self.fed(self.loader)"
    verdict = stuck(ways, items=fed)
    assert named(verdict) == [0] and verdict.cause == "uneven_inputs"
    assert verdict.location is not None and "row.any()" in (verdict.location.condition or "")
    for rest in ("kept(rows)", "self.loader"):
        # Others leave items out as well, or nobody can tell: it is not the test that says who goes round less often.
        other = stuck(ways, items=fed, rest=rest)
        assert other.location is not None and "row.any()" not in (other.location.condition or "")


#: The server waits for one of three, which it goes through in each round.
SERVED = """import torch.distributed as dist


def serve(rounds):
    for _ in range(rounds):
        for worker in (1, 2, 3):
            dist.recv(worker)  # serves


def work(rounds):
    seen = 0
    for row in {rows}:
        if seen == rounds:
            break
        dist.recv(0)  # inside
        seen += 1
    dist.barrier()  # end


if dist.get_rank() == 0:
    serve(9)  # server
work(9)  # worker
"""


def served(rows: str, ends: tuple[int, ...], behind: str = "") -> Verdict:
    """Rank 0 serves all others, and waits for one of them; who has come to the end waits in a barrier."""
    text = SERVED.format(rows=rows).replace("    dist.barrier()", f"    {behind}\n    dist.barrier()")
    at = partial(remarked, text)

    def frames(rank: int) -> Frames:
        function, outer = ("serve", "server") if rank == 0 else ("work", "worker")
        line = at("serves" if rank == 0 else "end" if rank in ends else "inside")
        way = ((function, f"{FOLDER}train.py", line), ("<module>", f"{FOLDER}train.py", at(outer)))
        return way if rank in ends else (("recv", TORCH, 1), *way)

    run = Run({"train.py": text}, {rank: [] for rank in range(4)})
    for rank in ends:
        run.calls[rank].append(("barrier", frames(rank)))
    verdict = msgspec.structs.replace(undecided(run, Wait(ranks="3", waits_for="0-2", group="0")), hang=True)
    case = case_of(run, {rank: frames(rank) for rank in range(4)})
    return locate(case, diagnosis_of(verdict), tree(run.files)).verdicts[0]


def test_who_alone_of_those_that_one_serves_has_left_their_loop_went_round_fewer_times() -> None:
    own = 'open(f"part{dist.get_rank()}")'
    verdict = served(own, ends=(3,))
    assert named(verdict) == [3] and verdict.cause == "uneven_inputs"
    assert verdict.location is not None and own in (verdict.location.condition or "")
    assert not named(served(own, ends=(2, 3))), "two that have left it are no exception"
    assert not named(served("range(8)", ends=(3,))), "all have as many rounds"
    assert not named(served(own, ends=(3,), behind="dist.send(0)")), "it may have said that it is done"


def test_where_nothing_shows_that_it_hung_the_stage_is_only_suspected() -> None:
    verdict = stuck({0: "past", 1: "inside", 2: "inside"}, items="self.fed(self.loader)", hang=None)
    assert not verdict.culprits and [one.rank for one in verdict.suspects] == [0]
    assert verdict.confidence == "hypothesis"


#: Whoever leaves its part is in the last call of all.
TWO_PARTS = """import torch.distributed as dist

LEARNER = 0


def learn(updates):
    for _ in range(updates):
        for actor in (1, 2, 3):
            dist.recv(actor)  # in learn


def act():
    for row in open(f"site{dist.get_rank()}"):  # own
        dist.send(row, LEARNER)
        dist.recv(LEARNER)  # in act


def main():
    dist.broadcast(0, LEARNER)  # start
    if dist.get_rank() == LEARNER:  # parts
        learn(9)  # learn
    else:
        act()  # act
    dist.all_reduce(0)  # end


main()  # main
"""


def two_parts(ends: tuple[int, ...], dumps: bool, lumped: bool = False) -> Verdict:
    """Rank 0 learns, and receives from the others in turn; those that have come to the end wait for all there.
    `lumped`: all others are one cohort, of which nothing is known but that they are missing."""

    def way(*stops: tuple[str, str]) -> Frames:
        frames = [(function, f"{FOLDER}train.py", remarked(TWO_PARTS, remark)) for function, remark in stops]
        return (*frames, ("<module>", f"{FOLDER}train.py", remarked(TWO_PARTS, "main")))

    stand: dict[int, Frames] = {}
    for rank in range(4):
        part = "act" if rank else "learn"
        inside = (("recv", TORCH, 1), *way((part, f"in {part}"), ("main", part)))
        stand[rank] = way(("main", "end")) if rank in ends else inside
    start = [("broadcast", way(("main", "start")))] if dumps else []
    run = Run({"train.py": TWO_PARTS}, {rank: [*start] for rank in stand})
    for rank in ends:
        run.calls[rank].append(("all_reduce", stand[rank]))
    waits = Wait(ranks=format_ranks(ends), waits_for=format_ranks(stand.keys() - {*ends}), group="0")
    verdict = msgspec.structs.replace(undecided(run, waits), hang=True)
    if lumped:
        cohorts = [Cohort(ranks=waits.ranks), Cohort(ranks=waits.waits_for)]
        parted = Divergence(group="0", seq=2, kind="absent", cohorts=cohorts, exact=False)
        verdict = msgspec.structs.replace(verdict, divergence=parted)
    return locate(case_of(run, stand), diagnosis_of(verdict), tree(run.files)).verdicts[0]


def test_of_ranks_that_are_missing_together_a_test_need_not_have_led_all_away() -> None:
    verdict = two_parts((2,), dumps=False, lumped=True)
    assert named(verdict) == [2] and verdict.cause == "uneven_inputs"


@pytest.mark.parametrize("dumps", [False, True])
def test_who_has_left_the_loop_of_its_part_is_named_beside_one_that_has_another_part(dumps: bool) -> None:
    verdict = two_parts((2,), dumps)
    assert named(verdict) == [2] and verdict.cause == "uneven_inputs"
    assert place(verdict.location) == ("train.py", remarked(TWO_PARTS, "own"))
    assert not two_parts((2, 3), dumps).culprits, "two that have left it are no exception"


def test_which_part_a_rank_has_is_the_line_where_it_explains_who_is_missing() -> None:
    assert place(two_parts((1, 2, 3), dumps=True).location) == ("train.py", remarked(TWO_PARTS, "parts"))
    assert two_parts((2, 3), dumps=True).location is None
