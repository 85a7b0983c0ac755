"""Why a decision can differ between ranks: sources, what makes them agree, and the way between."""

from __future__ import annotations

import pytest
from support.source.program_texts import reason

HEAD = """
import os, time, random, queue, signal, socket, cachetools, requests
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler
from torch.distributed.device_mesh import init_device_mesh
"""


def of(body: str, words: str = "if ", **more: str):
    return reason(words, a=HEAD + body, **more)


SOURCES = {
    "rank_api": "if dist.get_rank() == 0:\n    dist.barrier()\n",
    "clock": "if time.time() > 100:\n    dist.barrier()\n",
    "file_system": "if os.path.exists('done'):\n    dist.barrier()\n",
    "rng": "if random.random() < 0.5:\n    dist.barrier()\n",
    "queue": "inbox = queue.Queue()\nif inbox.empty():\n    dist.barrier()\n",
    "host": "if socket.gethostname() == 'a':\n    dist.barrier()\n",
    "process": "if os.getpid() % 2:\n    dist.barrier()\n",
    "network": "if requests.get('http://a').ok:\n    dist.barrier()\n",
    "cache": "kept = cachetools.TTLCache(9, 60)\nif 'a' in kept:\n    dist.barrier()\n",
    "environment": "if os.environ['SLURM_NODEID'] == '0':\n    dist.barrier()\n",
    "memory": "if torch.cuda.memory_allocated() > 5:\n    dist.barrier()\n",
}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_is_named(kind: str) -> None:
    found = of(SOURCES[kind])
    assert (found.level, found.source) == ("varying", kind)
    assert "a.py:" in found.sentence and found.chain[-1].file == "a.py"


LOADED = (
    "for row in DataLoader(rows, sampler=DistributedSampler(rows)):\n    if row:\n        dist.barrier()\n"
)
KEPT = "kept = []\nif dist.get_rank():\n    kept.append(1)\nif kept:\n    dist.barrier()\n"
RENAMED = "me = dist.get_rank()\nown = me\nif own:\n    dist.barrier()\n"


@pytest.mark.parametrize(
    ("body", "words", "kinds"),
    [
        (RENAMED, "if own", ["another name", "", "own number"]),
        (KEPT, "if kept", ["upon a test", "own number"]),
        (LOADED, "if row", ["own batches"]),
    ],
    ids=["another name", "stored or not", "a loader"],
)
def test_what_kind_of_step_each_is_is_told_beside_its_words(body: str, words: str, kinds: list[str]) -> None:
    assert [step.kind for step in of(body, words).chain] == kinds


def test_what_a_framework_gives_a_function_that_it_was_handed() -> None:
    """An engine calls its step with each batch; a function that nobody hands to it gets anything."""
    handed = "from ignite.engine import Engine\ndef step(engine, batch):\n    if batch.any():\n        dist.barrier()\n"
    assert of(handed).level == "unknown"
    found = of(handed + "trainer = Engine(step)\n")
    assert (found.level, found.source) == ("varying", "local_data")
    assert (
        of(handed.replace("batch.any()", "engine.state.epoch") + "trainer = Engine(step)\n").level
        == "uniform"
    )


@pytest.mark.parametrize(
    "body",
    [
        "if dist.get_world_size() > 1:\n    dist.barrier()\n",
        "if os.environ['WORLD_SIZE'] == '1':\n    dist.barrier()\n",
        "launched = os.environ.get('RANK') is not None and os.getenv('LOCAL_RANK') is not None\n"
        "if launched:\n    dist.barrier()\n",
        "import argparse\nargs = argparse.ArgumentParser().parse_args()\nif args.fast:\n    dist.barrier()\n",
        "for step in range(10):\n    if step % 3 == 0:\n        dist.barrier()\n",
        "rank = 3\nis_main = rank == 0\nif is_main:\n    dist.barrier()\n",
    ],
)
def test_what_is_the_same_everywhere_is_not_blamed(body: str) -> None:
    found = of(body)
    assert found.level == "uniform" and not found.sentence


def test_names_alone_say_nothing() -> None:
    """A parameter called `rank` that nobody passes is unknown, not a rank."""
    found = of("def save(rank, should_stop):\n    if rank == 0 and should_stop:\n        dist.barrier()\n")
    assert found.level == "unknown" and not found.sentence


LOCAL = """
def train(model):
    loader = DataLoader(Shard(dist.get_rank()))
    for batch in loader:
        loss = model(batch).mean()
        {reduce}
        if loss.item() > 5:
            break
"""


def test_a_loss_of_the_rank_s_own_batches_varies_until_it_is_reduced() -> None:
    local = of(LOCAL.format(reduce="pass"))
    assert (local.level, local.source) == ("varying", "local_data")
    assert "never reduced" in local.sentence
    assert of(LOCAL.format(reduce="dist.all_reduce(loss)")).level == "uniform"
    assert of(LOCAL.format(reduce="dist.broadcast(loss, src=0)")).level == "uniform"
    assert of(LOCAL.format(reduce="loss = loss * 2")).level == "varying"


def test_a_reduction_in_a_function_of_the_tree_counts_for_its_argument_and_for_what_it_returns() -> None:
    helpers = """
import torch, torch.distributed as dist
def in_place(t):
    dist.all_reduce(t)
def returned(value):
    t = torch.tensor([value])
    dist.all_reduce(t)
    return t.item()
def neither(value):
    t = torch.tensor([value])
    return t.item()
"""
    for reduce, level in [
        ("helpers.in_place(loss)", "uniform"),
        ("loss = torch.tensor(helpers.returned(loss))", "uniform"),
        ("loss = torch.tensor(helpers.neither(loss))", "varying"),
    ]:
        body = "import helpers\n" + LOCAL.format(reduce=reduce)
        assert of(body, helpers=helpers).level == level


def test_the_one_element_list_of_a_broadcast_agrees() -> None:
    body = "box = [time.time()]\ndist.broadcast_object_list(box, src=0)\nif box[0] > 5:\n    dist.barrier()\n"
    assert of(body).level == "uniform"
    gather = "mine = time.time()\nall = [None] * 4\ndist.all_gather_object(all, mine)\n"
    body = gather + "if max(all) > 5:\n    dist.barrier()\n"
    assert of(body).level == "uniform"
    assert of(body.replace("max(all)", "mine")).level == "varying"


MESH = """
mesh = init_device_mesh("cuda", (2, 2), mesh_dim_names=("dp", "tp"))
dp_group, tp_group = (mesh.get_group(d) for d in ("dp", "tp"))
dp, tp = mesh.get_coordinate()
"""


def test_a_mesh_coordinate_varies_along_its_axis_only() -> None:
    found = of(MESH + "if mesh.get_local_rank('tp') == 0:\n    dist.barrier()\n")
    assert (found.level, found.axes) == ("axes", {"tp"})
    found = of(MESH + "if dp == 0:\n    dist.barrier()\n")
    assert (found.level, found.axes) == ("axes", {"dp"})


def test_a_reduction_over_one_group_agrees_over_that_group_only() -> None:
    seen = {}
    for group in ("tp_group", "dp_group", "None"):
        body = f"value = torch.tensor(tp)\ndist.all_reduce(value, group={group})\nif value > 1:\n    dist.barrier()\n"
        seen[group] = of(MESH + body).level
    assert seen == {"tp_group": "uniform", "dp_group": "axes", "None": "uniform"}
    reduced = "value = torch.tensor(time.time())\ndist.all_reduce(value, group=tp_group)\n"
    found = of(MESH + reduced + "if value > 1:\n    dist.barrier()\n")
    assert (found.level, found.agreed) == ("varying", {"tp"})
    assert "`tp` only" in found.sentence


def test_a_flag_set_under_a_condition_varies_with_the_condition() -> None:
    trainer = """
class Trainer:
    def __init__(self):
        self.should_stop = False
        self.best = 9.0
    def check(self, batch):
        val_loss = batch.mean().item()
        if val_loss > self.best:
            self.should_stop = True
    def fit(self):
        for batch in DataLoader(Shard(dist.get_rank())):
            self.check(batch)
            if self.should_stop:  # here
                break
"""
    found = of(trainer, "# here")
    assert (found.level, found.source) == ("varying", "local_data")
    assert (
        "`self.should_stop` is set at a.py:15" in found.sentence
        and "if val_loss > self.best" in found.sentence
    )
    agreed = trainer.replace("self.should_stop:  # here", "any_rank(self.should_stop):  # here") + (
        "def any_rank(flag):\n    t = torch.tensor([flag])\n    dist.all_reduce(t)\n    return bool(t.item())\n"
    )
    assert of(agreed, "# here").level == "uniform"


def test_a_key_of_a_dict_is_not_another_key() -> None:
    body = """
def evaluate(batch):
    total = torch.tensor(time.time())
    local = total.item()
    dist.all_reduce(total)
    return {"loss": total.item(), "local": local}
result = evaluate(1)
if result[%r] > 3:
    dist.barrier()
"""
    assert of(body % "loss").level == "uniform"
    assert of(body % "local").level == "varying"


def test_a_signal_handler_sets_a_flag_when_it_pleases() -> None:
    body = """
class T:
    def __init__(self):
        self.stop = False
        signal.signal(signal.SIGTERM, self.on_term)
    def on_term(self, number, frame):
        self.stop = True
    def fit(self):
        if self.stop:  # here
            dist.barrier()
"""
    found = of(body, "# here")
    assert (found.level, found.source) == ("varying", "signal")


def test_a_parameter_is_what_the_callers_pass() -> None:
    body = "def save(first):\n    if first:\n        dist.barrier()\n"
    assert of(body + "save(dist.get_rank() == 0)\n").source == "rank_api"
    assert of(body + "save(dist.get_world_size() == 1)\n").level == "uniform"
    assert of(body).level == "unknown"


def test_a_loop_over_a_shard_is_as_long_as_the_shard() -> None:
    body = "data = Shard(dist.get_rank())\nloader = DataLoader(data{sampler})\n"
    body += "for batch in loader:\n    dist.barrier()\n"
    found = of(body.format(sampler=""), "for batch")
    assert (found.level, found.source) == ("varying", "shard_length")
    even = of(body.format(sampler=", sampler=DistributedSampler(data)"), "for batch")
    assert even.level == "uniform"


def test_a_set_has_an_order_of_its_own_in_every_process() -> None:
    loop = "names = {'a', 'b'}\nfor name in %s:\n    dist.barrier()\n"
    assert of(loop % "names", "for name").source == "set_order"
    assert of(loop % "sorted(names)", "for name").level == "uniform"


def test_what_is_done_first_is_another_thing_on_each_rank() -> None:
    body = "from concurrent.futures import as_completed\njobs = [pool.submit(n) for n in range(3)]\n"
    loop = body + "for job in %s:\n    dist.barrier()\n"
    assert of(loop % "as_completed(jobs)", "for job").source == "arrival"
    assert of(loop % "jobs", "for job").level != "varying"


def test_a_prepared_loader_gives_each_rank_its_own_batches_and_as_many() -> None:
    body = "from accelerate import Accelerator\naccelerator = Accelerator()\n"
    body += "model, loader = accelerator.prepare(torch.nn.Linear(1, 1), DataLoader(list(range(9))))\n"
    body += "for batch in loader:\n    if batch.sum() > 3:\n        dist.barrier()\n"
    assert of(body, "for batch").level == "uniform"
    found = of(body)
    assert (found.level, found.source) == ("varying", "local_data")


def test_how_often_a_metric_was_updated() -> None:
    body = "from torchmetrics import MeanMetric\nmetric = MeanMetric()\n{guard}metric.update(1)\n"
    body += "if metric.update_count:\n    dist.barrier()\n"
    found = of(body.format(guard="if dist.get_rank() == 0: "), "if metric")
    assert (found.level, found.source) == ("varying", "rank_api")
    assert "is counted on" in found.sentence
    assert of(body.format(guard=""), "if metric").level != "varying"


def test_a_random_number_by_the_seed_it_is_drawn_after() -> None:
    body = "{seed}\nif random.random() < 0.5:\n    dist.barrier()\n"
    assert of(body.format(seed="random.seed(1)")).level == "unknown"
    assert of(body.format(seed="random.seed(dist.get_rank())")).level == "varying"
    assert of(body.format(seed="")).level == "varying"
    own = "dice = random.Random({seed})\nif dice.random() < 0.5:\n    dist.barrier()\n"
    assert of(own.format(seed="dist.get_rank()")).source == "rng"
    assert of(own.format(seed="7")).level == "unknown"


EXCEPT = """
class Bad(Exception):
    pass
def read(batch):
    if {guard}:
        raise Bad("no anchors")
    return batch
def step(batch):
    try:
        return read(batch)
    except Bad:
        return None
for batch in DataLoader(Shard(dist.get_rank())):
    step(batch)
"""


def test_an_exception_is_what_raises_it() -> None:
    found = of(EXCEPT.format(guard="batch.sum() == 0"), "except Bad")
    assert (found.level, found.source) == ("varying", "local_data")
    assert "read(batch)" in found.sentence and "batch.sum() == 0" in found.sentence
    assert of(EXCEPT.format(guard="dist.get_world_size() == 1"), "except Bad").level != "varying"


def test_an_import_error_is_everybody_s() -> None:
    body = "try:\n    import apex\n    apex.setup(dist.get_rank())\nexcept ImportError:\n    apex = None\n"
    assert not of(body, "except ImportError").sentence


def test_a_helper_that_may_agree_inside_is_not_accused() -> None:
    body = "from vendor import reduce_flag, noise\nif {call}(time.time()):\n    dist.barrier()\n"
    assert of(body.format(call="reduce_flag")).level == "unknown"
    assert of(body.format(call="noise")).level == "varying"


def test_a_decision_that_was_not_made_of_the_source_is_not_explained_by_it() -> None:
    body = "rank = dist.get_rank()\nsteps = 10\nif steps > 3:\n    print(rank)\n"
    assert of(body).level == "uniform"


def test_a_method_that_the_tree_does_not_show_is_unknown() -> None:
    body = "class T:\n    def fit(self):\n        if self.prefer_first():\n            dist.barrier()\n"
    assert of(body).level == "unknown"


def test_a_hostile_program_takes_bounded_time_and_no_exception() -> None:
    deep = "x = " + " + ".join(["a"] * 700) + "\nif x:\n    dist.barrier()\n"
    assert of(deep).level in ("unknown", "uniform")
    circles = "".join(f"def f{n}(a):\n    return f{(n + 1) % 40}(f{(n + 7) % 40}(a))\n" for n in range(40))
    assert of(circles + "if f0(dist.get_rank()):\n    dist.barrier()\n").level in (
        "unknown",
        "varying",
        "uniform",
    )
    knot = "class A(B):\n    pass\nclass B(A):\n    pass\nx = A()\nx.y = x.y\nif x.y:\n    dist.barrier()\n"
    assert of(knot).level in ("unknown", "uniform")


FILLED = """
def step(schedule, batch):
    losses{begins}
    if dist.get_rank() == 3:
        schedule.step(batch, losses=losses)
    else:
        schedule.step(batch)
    return [loss * 2 for loss in losses]

def train(schedule):
    for batch in range(9):
        if step(schedule, batch):
            break
"""


def test_an_empty_list_is_filled_by_the_foreign_call_that_is_given_it() -> None:
    found = of(FILLED.format(begins=": list = []"), "if step")
    assert (found.level, found.source) == ("varying", "rank_api")
    assert of(FILLED.format(begins=" = [1, 2]"), "if step").level == "uniform", "it may as well be an input"


TRIED = """
def settle(log):
    try:
        {work}
    except KeyError:
        dist.barrier()

def price(currency):
    return RATES[currency]
"""


def test_a_table_that_is_asked_for_what_one_rank_has_raises() -> None:
    found = of(TRIED.format(work="price(dist.get_rank())"), "except")
    assert found.level == "varying" and "RATES[currency]" in found.sentence
    assert of(TRIED.format(work="price('EUR')"), "except").level != "varying"


def test_a_logger_does_not_raise_for_what_it_is_told() -> None:
    assert of(TRIED.format(work="log.warning('at %s', dist.get_rank())"), "except").level != "varying"


HEAPED = """
import heapq

class Hardest:
    def __init__(self):
        self.kept = []
        self.first = dist.get_rank() == 0

    def see(self, losses):
        if not self.first:
            return
        for loss in losses:
            heapq.heappush(self.kept, loss)

    def close(self):
        if not self.kept:
            return
        dist.barrier()
"""


def test_whether_a_heap_is_empty_depends_on_who_fills_it() -> None:
    found = of(HEAPED, "if not self.kept")
    assert (found.level, found.source) == ("varying", "rank_api")
    assert of(HEAPED.replace("dist.get_rank() == 0", "True"), "if not self.kept").source != "rank_api"


def test_a_property_that_is_written_as_a_lambda_is_what_that_returns() -> None:
    found = of(
        """
class Stage:
    def __init__(self):
        self.rank = dist.get_rank()

    first = property(lambda self: self.rank == 0)


stage = Stage()
if stage.first:
    dist.barrier()
"""
    )
    assert (found.level, found.source) == ("varying", "rank_api")


def test_what_the_items_of_a_loop_are_given_is_not_how_many_there_are() -> None:
    body = """
class Suite:
    def __init__(self):
        self.metrics = [cls() for cls in METRICS]
    def update(self, words):
        for m in self.metrics:
            m.{grow}(words)
    def results(self):
        for one in self.metrics:
            dist.barrier()
suite = Suite()
suite.update(open(f"part{dist.get_rank()}").read())
suite.results()
"""
    assert of(body.replace("{grow}", "update"), "for one").level != "varying"
    assert of(body.replace("m.{grow}", "self.metrics.extend"), "for one").level == "varying"


@pytest.mark.parametrize(
    ("started", "test", "level"),
    [
        ("mp.spawn(train, args=(4,), nprocs=4)", "me == 0", "varying"),
        ("mp.spawn(train, args=(4,), nprocs=4)", "size > 2", "uniform"),
        ("[mp.Process(target=train, args=(r, 4)).start() for r in range(4)]", "me", "varying"),
        ("for r in range(4):\n    mp.Process(target=train, args=(r, 4)).start()", "size > 2", "uniform"),
        ("mp.Process(target=train, args=(3, 4)).start()", "me", "uniform"),
        ("threading.Thread(target=train, args=(3, 4)).start()", "me", "unknown"),
    ],
)
def test_what_processes_are_given_that_the_program_starts(started: str, test: str, level: str) -> None:
    imports = "import threading\nimport torch.multiprocessing as mp\n"
    found = of(f"{imports}def train(me, size):\n    if {test}:\n        dist.barrier()\n{started}\n")
    assert found.level == level
    if level == "varying":
        assert found.source == "rank_api"


ENV = """
from dataclasses import dataclass, field
KEY = "RANK"
def env(name="RANK", default=0):
    return int(os.environ.get(name, default))
def item(name):
    return os.environ[name]
def twice(name):
    return env(name)
@dataclass
class Place:
    index: int = field(default_factory=lambda: env("RANK"))
    size: int = field(default_factory=lambda: twice("WORLD_SIZE"))
"""


@pytest.mark.parametrize(
    ("test", "level"),
    [
        ("env('WORLD_SIZE') > 1", "uniform"),
        ("twice('WORLD_SIZE') > 1", "uniform"),
        ("item('WORLD_SIZE') == '1'", "uniform"),
        ("Place().size > 1", "uniform"),
        ("env('RANK') == 0", "varying"),
        ("env() == 0", "varying"),
        ("twice('RANK') == 0", "varying"),
        ("item('RANK') == '0'", "varying"),
        ("not Place().index", "varying"),
        ("env('NOBODYS') == 0", "unknown"),
    ],
)
def test_what_is_read_from_the_environment_by_a_name_that_is_handed_on(test: str, level: str) -> None:
    assert of(f"{ENV}if {test}:\n    dist.barrier()\n").level == level


MATCH = """
def main(find):
    chief = dist.get_rank() == 0
    for step in range(9):
        match {subject}:
            case {case}:
                dist.barrier()
"""


@pytest.mark.parametrize(
    ("subject", "case", "level"),
    [
        ("chief, step % 6 == 5", "True, True", "varying"),
        ("chief, step % 6 == 5", "_, True", "uniform"),
        ("(step, chief)", "(5 | 6, False)", "varying"),
        ("step", "5 | 6", "uniform"),
        ("step", "at if at > 3 and chief", "varying"),
        ("find(step), step", "_, 3", "uniform"),
        ("find(step), step", "None, 3", "unknown"),
        ("dist.get_rank()", "0", "varying"),
    ],
)
def test_a_case_asks_for_what_its_pattern_names(subject: str, case: str, level: str) -> None:
    assert of(MATCH.format(subject=subject, case=case), "case ").level == level


@pytest.mark.parametrize(
    "made", ["collections.deque(range(4 + {own}))", "list(range(4 + {own}))", "[0] * (4 + {own})"]
)
@pytest.mark.parametrize(
    ("own", "source"), [("2 * (rank == 1)", "rank_api"), ("open(f'a{rank}').read().count('x')", "local_data")]
)
def test_as_many_as_the_rank_s_number_says_are_no_data(made: str, own: str, source: str) -> None:
    body = f"""
import collections
def main():
    rank = dist.get_rank()
    todo = {made.format(own=own)}
    while todo:
        todo.pop()
        dist.barrier()
"""
    assert of(body, "while ").source == source


GUARDED = """
import functools
class Layout:
    def __init__(self):
        self.main = dist.get_rank() == 0
        self.many = dist.get_world_size() > 1
def only(fn):
    @functools.wraps(fn)
    def inner(layout, *a):
        if layout.{asks}:
            return None
        return fn(layout, *a)
    return inner
def unless(word):
    def named(fn):
        def inner(layout, *a, **more):
            if word and not layout.{asks}:
                return None
            return fn(layout, *a)
        return inner
    return named
{decorator}
def report(layout, t):
    dist.all_reduce(t)
def main():
    report(Layout(), torch.ones(1))
"""


@pytest.mark.parametrize(
    ("decorator", "words"), [("@only", "if layout"), ("@unless('chief')", "if word and not")]
)
@pytest.mark.parametrize(("asks", "level"), [("main", "varying"), ("many", "uniform")])
def test_the_guard_that_a_decorator_puts_in_front_is_given_what_the_function_is(
    decorator: str, words: str, asks: str, level: str
) -> None:
    assert of(GUARDED.format(decorator=decorator, asks=asks), words).level == level


def test_a_guard_that_takes_the_object_as_one_of_many_is_given_nothing_that_is_known() -> None:
    body = """
def only(fn):
    def inner(*a):
        if a[0]:
            return fn(*a)
    return inner
class Run:
    @only
    def report(self, chief):
        dist.barrier()
Run().report(dist.get_rank() == 0)
"""
    assert of(body, "if a[0]").level == "unknown"
