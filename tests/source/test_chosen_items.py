"""The line that decides where a loop's items, or the part of an expression that is asked at all, decide."""

from __future__ import annotations

import pytest
from msgspec import structs
from support.source.toy_runs import (
    Run,
    case_of,
    diagnosis_of,
    locate,
    located,
    place,
    play,
    tree,
    verdict_of,
)

from rankandfile.model.diagnosis import Call, Cohort, Divergence, Verdict
from rankandfile.model.ledger import call_id

WISHES = """
import torch.distributed as dist

LIMIT = 3


class Part:
    def due(self, load):
        return True

    def run(self, load):
        raise NotImplementedError


class Shared(Part):
    def due(self, load):
        return load < LIMIT  # <-

    def run(self, load):
        dist.all_reduce(load)


class Table(Part):
    def run(self, load):
        dist.all_gather(load)


def main():
    parts = [kind() for kind in (Shared, Table)]
    for n in range(5):
        load = n * (dist.get_rank() == 1)
        for part in [each for each in parts if each.due(load)]:
            part.run(load)
"""

ARRIVALS = """
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch.distributed as dist


def mean(n):
    dist.all_reduce(n)


def least(n):
    dist.broadcast(n, src=0)


MADE = {"mean": mean, "least": least}


def settle(kind, n):
    MADE[kind](n)


def fetch(kind, gate):
    gate.wait()
    return kind


def main():
    first = "least" if dist.get_rank() == 1 else "mean"
    with ThreadPoolExecutor(2) as pool:
        gates = {kind: threading.Event() for kind in MADE}
        jobs = [pool.submit(fetch, kind, gate) for kind, gate in gates.items()]
        gates[first].set()
        for job in as_completed(jobs):  # <-
            answer = job.result()
            settle(answer, 1)
            for gate in gates.values():
                gate.set()
"""

FIRST_SEEN = """
import torch.distributed as dist


class Mean:
    def result(self):
        dist.all_reduce(self)


class Sample:
    def result(self):
        dist.broadcast(self, src=0)


class Board:
    def __init__(self):
        self.meters = {}

    def record(self, task):
        if task not in self.meters:
            self.meters[task] = Mean() if task.startswith("m") else Sample()

    def summary(self):
        return {task: meter.result() for task, meter in self.meters.items()}  # <-


def main():
    board = Board()
    tasks = ["m0", "m1", "s0"] if dist.get_rank() != 1 else ["m0", "s0", "m1"]
    for task in tasks:
        board.record(task)
        if len(board.meters) > 1:
            board.summary()
"""

SHORT_CIRCUIT = """
import torch.distributed as dist
from accelerate import Accelerator


class Spikes:
    def __init__(self, accelerator):
        self.accelerator = accelerator
        self.worst = 0

    def seen(self, loss):
        self.worst = loss

    def stops(self):
        return self.worst > 5 and self.accelerator.check_trigger()  # <-


def main():
    spikes = Spikes(Accelerator())
    for n in range(4):
        dist.all_reduce(n)
        spikes.seen(9 * (dist.get_rank() == 1 and n == 2))
        if any([each.stops() for each in (spikes,)]):
            break
        dist.all_gather(n)
"""

ACCELERATE = """
import torch.distributed as dist


class Accelerator:
    def check_trigger(self):
        dist.broadcast(0, src=0)
        return False
"""

KEPT_TO_ITSELF = """
import torch.distributed as dist
from reading import numbers


def main():
    odd = dist.get_rank() % 3
    lines = [str(n) + "x" * (n * odd == 2) for n in range(4)]
    for number in numbers(lines):
        dist.all_reduce(number)
    dist.barrier()
"""

READING = """
class Blank(Exception):
    pass


def parse(line):
    if not line:
        raise Blank
    return int(line)


def parsed(lines):
    try:
        for line in lines:
            try:
                yield parse(line)
            except Blank:
                yield 0
    except ValueError:  # <-
        print("no more")


def numbers(lines):
    for number in parsed(lines):
        yield number if number > 0 else -number
"""

NO_GROUP = """
import torch.distributed as dist
from layout import Layout


class Norms:
    def __init__(self, layout):
        self.layout = layout

    def of(self, value, name):
        dist.all_reduce(value, group=self.layout.named(name))


def main():
    norms = Norms(Layout(dist.get_rank()))
    for n in range(3):
        norms.of(n, "all")
        norms.of(n, "tied")
"""

LAYOUT = """
class Layout:
    def __init__(self, rank):
        self.groups = {"all": "all"}
        if rank != 1:
            self.groups["tied"] = "tied"

    def named(self, name):
        return self.groups.get(name)  # <-
"""

CHANNELS = """
import torch.distributed as dist

from probe import speeds


class Channels:
    def __init__(self, rank):
        self.groups = {}
        for name in self.fastest_first(speeds(rank)):
            self.groups[name] = name

    def fastest_first(self, found):
        return sorted(found, key=found.get)  # <-

    def mean(self, name, value):
        dist.all_reduce(value, group=self.groups[name])
"""

IN_CHANNELS = """
import torch.distributed as dist
from channels import Channels


def main():
    channels = Channels(dist.get_rank())
    for n in range(3):
        channels.mean("gradient", n)
"""

PROBE = """
def speeds(rank):
    return {"gradient": 1, "buffer": 2 - 2 * (rank == 1)}
"""

HANDED_OUT = """
import asyncio

import torch.distributed as dist
from store import Replies


class Mesh:
    def mean(self, row):
        dist.all_reduce(row)

    def table(self, n):
        dist.all_gather(n)


async def rounds(replies, mesh):
    async for n, reply in replies.stream(12):
        yield n
        if reply is None:  # <-
            continue
        mesh.mean(reply)


async def serve():
    mesh, replies = Mesh(), Replies(dist.get_rank())
    async for n in rounds(replies, mesh):
        if n % 4 == 3:
            mesh.table(n)


def main():
    asyncio.run(serve())
"""

STORE = """
import asyncio


class Replies:
    def __init__(self, rank):
        self.late = 5 if rank == 1 else -1

    async def stream(self, steps):
        for n in range(steps):
            await asyncio.sleep(0)
            yield n, None if n == self.late else n
"""

FROM_A_METHOD = """
import torch.distributed as dist


class Feed:
    def __init__(self, scores):
        self.scores = scores

    def __call__(self):
        place = 0
        while place < len(self.scores):
            yield place
            score = self.scores[place]
            place += 1
            if score > 7:  # <-
                dist.broadcast(score, src=0)
            print(place)


def serve(feed):
    for place in feed():
        if place % 3 == 2:
            dist.barrier()


def main():
    serve(Feed([n if dist.get_rank() == 1 and n == 4 else 9 for n in range(10)]))
"""

SAME_KEY = """
import torch.distributed as dist
from register import Register, report


def total(n):
    dist.all_reduce(n)


def rate(n):
    dist.broadcast(n, src=0)


def main():
    register = Register()
    for name, call in (("loss total", total), ("rate", rate)):
        register.put(name, call)
    if dist.get_rank() == 1:
        register.put("time total", report)
    for n in range(3):
        register.fire(n)
"""

REGISTER = """
def report(n):
    print(n)


class Register:
    def __init__(self):
        self.calls = {}

    def put(self, name, call):
        self.calls[name.split()[-1]] = call  # <-

    def fire(self, n):
        for call in list(self.calls.values()):
            call(n)
"""

ONE_MORE = """
import torch.distributed as dist


class Watcher:
    def see(self, n):
        dist.all_gather(n)


class Keeper:
    def see(self, n):
        dist.all_reduce(n)


class Round:
    def __init__(self):
        self.watchers = []

    def watch(self, watcher):
        self.watchers.append(watcher)

    def all_see(self, n):
        for watcher in self.watchers:
            watcher.see(n)


def prepared(rank):
    round_ = Round()
    if rank == 1:  # <-
        round_.watch(Watcher())
    round_.watch(Keeper())
    return round_


def main():
    round_ = prepared(dist.get_rank())
    for n in range(3):
        round_.all_see(n)
"""

SWITCHED = """
import torch.distributed as dist

MOVES = {}


class State:
    def __init__(self):
        self.phase = "wide"
        self.stale = 0


def move(phase):
    def keep(call):
        MOVES[phase] = call
        return call

    return keep


@move("wide")
def wide(n):
    dist.all_reduce(n)


@move("narrow")
def narrow(n):
    dist.all_gather(n)


def moved(state: State, score):
    state.stale += score > 1
    if state.phase == "wide" and state.stale > 1:  # <-
        state.phase, state.stale = "narrow", 0


def main():
    state = State()
    for n in range(5):
        MOVES[state.phase](n)
        moved(state, n * dist.get_rank())
"""

REVERSED = """
import torch.distributed as dist


def rows(n):
    dist.all_reduce(n)


def columns(n):
    dist.all_gather(n)


LINES = {"row": rows, "column": columns}


class Traffic:
    def __init__(self, odd):
        self.odd = odd

    def order(self, n):
        names = ["row", "column"]
        if n > 1 and self.odd:  # <-
            names.reverse()
        yield from names


def main():
    traffic = Traffic(dist.get_rank() == 1)
    for n in range(4):
        for name in traffic.order(n):
            LINES[name](n)
"""

SWALLOWING = {
    "patience": """
class Unreadable(ValueError):
    pass


class Section:
    def __init__(self, owner):
        self.owner = owner

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, trace):
        if kind is None or not issubclass(kind, Unreadable):
            return False
        self.owner.seen += 1
        return self.owner.seen < 5


class Patience:
    def __init__(self):
        self.seen = 0

    def with_(self, what):
        return Section(self)
""",
    "train": """
import torch.distributed as dist
from patience import Patience, Unreadable


def decoded(rows):
    if sum(rows) > 3:
        raise Unreadable(rows)
    return rows


def learn(rows):
    dist.all_gather(decoded(rows))


def step(patience, rows):
    with patience.with_("words"):  # <-
        learn(rows)
    for part in range(2):
        dist.all_reduce(part)


def main(patience=None):
    patience = patience or Patience()
    for n in range(4):
        step(patience, [n * (dist.get_rank() == 1)] * 2)
""",
}

KEPT_MANAGER = {
    "intake": """
class Malformed(ValueError):
    pass


class Intake:
    def __init__(self):
        self.refused = []

    def __enter__(self):
        return self

    def __exit__(self, kind, problem, trace):
        if problem is not None:
            self.refused.append(str(problem))
        return isinstance(problem, Malformed)
""",
    "train": """
import torch.distributed as dist
from intake import Intake, Malformed

TILES = 6


def decoded(rows):
    if rows == [8, 8]:
        raise Malformed(rows)
    return rows


def take(rank, world, intake, scene):
    # As often on every rank: it is not the loop that parts them.
    for number in range(rank, TILES, world):
        with intake:  # <-
            dist.all_reduce(decoded([scene * number] * 2))
    curves = [0 for _ in range(world)]
    dist.all_gather(curves)


def main():
    intake = Intake()
    for scene in range(3):
        take(dist.get_rank(), dist.get_world_size(), intake, scene)
""",
}

PROGRAMS = {
    "an attribute that another function switches": {"train": SWITCHED},
    "items put in another order by a method": {"train": REVERSED},
    "a manager that an object makes, and that swallows": SWALLOWING,
    "a manager that is handed over, and that swallows": KEPT_MANAGER,
    "an item under the key of another": {"register": REGISTER, "train": SAME_KEY},
    "an item more by a method": {"train": ONE_MORE},
    "a generator that goes on without the call": {"store": STORE, "train": HANDED_OUT},
    "a generator of a method, in a `while`": {"train": FROM_A_METHOD},
    "items that are asked whether they want": {"train": WISHES},
    "what is done first": {"train": ARRIVALS},
    "what was seen first, in a comprehension": {"train": FIRST_SEEN},
    "the second part of an `and`": {
        "site-packages/accelerate/__init__": ACCELERATE,
        "train": SHORT_CIRCUIT,
    },
    "a generator that ends for an exception": {"reading": READING, "train": KEPT_TO_ITSELF},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_that_decides(name: str) -> None:
    run = play(**PROGRAMS[name])
    verdict = located(run, culprit=1)
    assert place(verdict.location) == run.marked


def test_of_a_generator_that_handed_out_another_item_the_loop_had_not_ended() -> None:
    run = play(store=STORE, train=HANDED_OUT)
    seen = tree({name: text for name, text in run.files.items() if "store" not in name})
    found = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), seen).verdicts[0]
    assert place(found.location) == run.marked
    assert "exhausted" not in found.sentence


@pytest.mark.parametrize("name", ["an item under the key of another", "an item more by a method"])
def test_who_alone_has_more_items_is_named_where_nothing_else_tells(name: str) -> None:
    run = play(world=2, **PROGRAMS[name])
    given = verdict_of(run, 1, "different_collective")
    found = locate(case_of(run), diagnosis_of(structs.replace(given, culprits=[])), tree(run.files)).verdicts[
        0
    ]
    assert [one.rank for one in found.culprits] == [1]


def test_a_group_that_is_not_found_is_looked_for_where_it_comes_out_as_none() -> None:
    run = play(layout=LAYOUT, train=NO_GROUP)
    for rank in (0, 2):
        # On a group of their own: rank 1 alone makes them on that of all.
        run.calls[rank] = [made for made in run.calls[rank] if made[1][1][2] != 17]
    given = verdict_of(run, 1, "group_mismatch")
    found = locate(case_of(run), diagnosis_of(given), tree(run.files)).verdicts[0]
    assert place(found.location) == run.marked


def test_a_group_of_a_table_that_a_loop_in_an_own_order_filled_is_decided_there() -> None:
    run = play(probe=PROBE, channels=CHANNELS, train=IN_CHANNELS)
    made = "self.groups[name] = dist.new_group([0, 1, 2])"
    run.files["channels.py"] = run.files["channels.py"].replace("self.groups[name] = name", made)
    given = structs.replace(in_a_circle(run), cause="group_mismatch")
    assert (
        place(locate(case_of(run), diagnosis_of(given), tree(run.files)).verdicts[0].location) == run.marked
    )


def test_another_order_is_no_call_left_out() -> None:
    assert located(play(train=ARRIVALS), culprit=1).cause == "order_inversion"
    assert located(play(train=FIRST_SEEN), culprit=1).cause == "order_inversion"


def test_an_exception_that_a_generator_keeps_is_swallowed() -> None:
    verdict = located(play(**PROGRAMS["a generator that ends for an exception"]), culprit=1)
    assert verdict.cause == "swallowed_exception"


def test_a_cut_share_comes_before_a_handler_that_may_never_be_asked() -> None:
    cut = KEPT_TO_ITSELF.replace("numbers(lines)", "numbers(lines[dist.get_rank() :: 2])")
    cut = cut.replace('"x" * (n * odd == 2)', '""').replace("range(4)", "range(5)")
    verdict = located(play(world=2, reading=READING, train=cut), culprit=1)
    assert place(verdict.location) == ("train.py", 8)
    assert verdict.cause != "swallowed_exception"


def in_a_circle(run: Run, cause: str = "order_inversion", kind: str = "cycle") -> Verdict:
    """Two ranks wait for each other in the first call of each, from one line."""
    op, ((function, file, line), *_) = run.calls[0][0]
    cohorts = [
        Cohort(
            ranks=str(rank),
            call=Call(op=op, seq=1, file=file, line=line, function=function, evidence=[call_id(rank, 0)]),
        )
        for rank in (0, 1)
    ]
    verdict = structs.replace(
        verdict_of(run, 1, cause),
        divergence=Divergence(group="0", seq=1, kind=kind, cohorts=cohorts),
    )
    return locate(case_of(run), diagnosis_of(verdict), tree(run.files)).verdicts[0]


SORTED = """
import torch.distributed as dist

SEEN = [{{"users": 3, "items": 1}}, {{"users": 1, "items": 3}}]


def order(tables):
    return sorted(tables, key=lambda name: {key})  # <-


def main():
    mine = SEEN[dist.get_rank()]
    tables = ["items", "users"]
    for n in range(3):
        {names}
        for name in names:
            dist.all_reduce(mine[name], group=name)
"""


@pytest.mark.parametrize(
    "names", ["names = order(tables)", "names = list(order(tables))", "names = order(tables)[:2]"]
)
def test_a_key_by_which_a_function_sorts_what_a_loop_goes_over(names: str) -> None:
    for key, found in (("-SEEN[dist.get_rank()][name]", True), ("(len(name), name)", False)):
        run = play(2, train=SORTED.format(key=key, names=names))
        told = in_a_circle(run)
        assert (place(told.location) == run.marked) is found


def test_a_size_that_no_item_has_a_part_in_is_no_matter_of_order() -> None:
    program = SORTED.format(key="-SEEN[dist.get_rank()][name]", names="names = order(tables)")
    run = play(2, train=program.replace("mine[name], group=name", "[0] * len(tables)"))
    told = in_a_circle(run, "size_mismatch", "argument")
    assert place(told.location) != run.marked and told.cause == "size_mismatch"


def test_calls_in_an_order_of_ones_own_meet_with_other_arguments() -> None:
    program = SORTED.format(key="-SEEN[dist.get_rank()][name]", names="names = order(tables)")
    run = play(2, train=program.replace("mine[name]", "None"))
    told = in_a_circle(run, "size_mismatch", "argument")
    assert (place(told.location), told.cause) == (run.marked, "order_inversion")


READY = """
import torch.distributed as dist

GROUPS = {{"users": ("users", 2), "items": ("items", 4)}}
ORDERS = ("users", "items"), ("items", "users")


class Buckets:
    def __init__(self):
        self.ready = {{}}

    def collect(self, name):
        self.ready.setdefault(name, []).append(1)

    def flush(self):
        for name, parts in {items}:  # <-
            {chosen}
            dist.all_reduce(parts, group=group)


def main():
    buckets = Buckets()
    for n in range(3):
        for name in ORDERS[getattr(dist, "_".join(["get", "rank"]))()]:
            buckets.collect(name)
        buckets.flush()
"""


@pytest.mark.parametrize(
    ("items", "chosen", "found"),
    [
        ("self.ready.items()", "group, size = GROUPS.get(name)", True),
        ("self.ready.items()", "group = 'users'", False),
        ("sorted(self.ready.items())", "group, size = GROUPS.get(name)", False),
    ],
    ids=["as they were put in", "of one group", "in the order of their names"],
)
def test_of_a_circle_the_loop_over_a_dictionary_that_chose_the_group(
    items: str, chosen: str, found: bool
) -> None:
    run = play(2, train=READY.format(items=items, chosen=chosen))
    told = in_a_circle(run)
    assert (place(told.location) == run.marked) is found


TRIED_ONCE_MORE = """
import torch.distributed as dist


class OutOfMemory(RuntimeError):
    pass


class Accumulator:
    def __init__(self):
        self.splits = 1

    def run(self, rows):
        for _ in range(self.splits):
            if rows // self.splits > 4:
                raise OutOfMemory
            dist.all_reduce(rows)

    def __call__(self, rows):
        while True:
            try:
                {body}
            except OutOfMemory:  # <-
                self.splits *= 2
                {after}


def main():
    accumulate = Accumulator()
    for n in range(4):
        accumulate(6 if n == 2 and dist.get_rank() == 1 else 3)
        dist.broadcast(n, src=0)
"""


@pytest.mark.parametrize(
    ("body", "after", "cause"),
    [
        ("return self.run(rows)", "pass", "extra_collective"),
        ("return self.run(rows)", "return", "swallowed_exception"),
    ],
)
def test_who_caught_an_exception_and_tries_the_same_again_makes_calls_more(
    body: str, after: str, cause: str
) -> None:
    run = play(train=TRIED_ONCE_MORE.format(body=body, after=after))
    verdict = located(run, culprit=1)
    assert (place(verdict.location), verdict.cause) == (run.marked, cause), verdict.sentence


LEAST = """
import heapq
import torch.distributed as dist

ROWS = [{{"users": 3, "items": 1}}, {{"users": 1, "items": 3}}]


class Courier:
    def __init__(self):
        self.waiting = []

    def add(self, name, rows):
        heapq.heappush(self.waiting, (-rows, name))

    def deliver(self):
        while self.waiting:
            parcel = {taken}  # <-
            self.exchange(parcel)

    def exchange(self, parcel):
        values = list(parcel)
        dist.all_reduce(values, group=parcel[1])


def main():
    courier = Courier()
    for n in range(3):
        for name in ("users", "items"):
            courier.add(name, {rows})
        courier.deliver()
"""


def test_which_of_several_is_the_least_tells_the_order_of_groups() -> None:
    least, own = "heapq.heappop(self.waiting)", "ROWS[dist.get_rank()][name]"
    told = in_a_circle(play(2, train=LEAST.format(taken=least, rows=own)))
    assert "The order of the calls comes from `parcel = heapq.heappop(self.waiting)`" in told.sentence
    for taken, rows in ((least, "len(name)"), ("self.waiting.pop()", own)):
        innocent = in_a_circle(play(2, train=LEAST.format(taken=taken, rows=rows)))
        assert "order of the calls" not in innocent.sentence
        assert "The argument comes from" not in innocent.sentence, "that says nothing of an order"
