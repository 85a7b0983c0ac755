"""A patched program still means what its author meant: at every use of an answer, for every rank's data, to its end."""

from __future__ import annotations

import pytest
from support.source.remedy_cases import Texts, changed, problem, refused

from rankandfile.source.remedies import Site, patched

pytestmark = pytest.mark.slow

HEAD = "import math\nimport torch\nimport torch.distributed as dist\n\n\n"


def train(body: str, **others: str) -> Texts:
    return Texts(train=HEAD + body, **others)


# At every later use of the same decision.


def root_at(line: int) -> dict[str, object]:
    return {"cause": "root_mismatch", "sites": (Site((0, 1), "broadcast", "train.py", line, "adopt"),)}


ADOPTS = """def adopt(weights, rate, owner, group):
    dist.broadcast(weights, src=owner, group=group)
    dist.broadcast(rate, src=owner, group=group)


"""


def test_a_root_that_is_handed_in_is_the_same_one_where_it_is_chosen_too() -> None:
    """Both broadcasts, and the caller, which goes by it once more."""
    calls = """class Member:
    def exploit(self, island, scores):
        best = leader(scores, self.rank)
        adopt(self.weights, self.rate, best, island.group)
        return best != self.rank
"""
    assert changed(train(ADOPTS + calls), "def adopt", **root_at(7))[-2:] == [
        "- best = leader(scores, self.rank)",
        "+ best = as_first_rank(leader(scores, self.rank), island.group)",
    ]


def test_a_root_of_many_callers_is_the_same_one_from_the_first_use_on() -> None:
    assert changed(train(ADOPTS), "def adopt", **root_at(7))[-1] == "+ owner = as_first_rank(owner, group)"


def test_what_a_root_is_worked_out_from_is_the_same_too() -> None:
    files = train(
        """def adopt(island, weights, table):
    first = table.leader()
    dist.broadcast(weights, src=island.rank_of(first))
    return first == island.place
"""
    )
    assert changed(files, "first = table", **root_at(8))[-1] == "+ first = guard.share(table.leader())"


def test_roots_of_two_groups_are_not_made_one() -> None:
    files = train(
        """def adopt(weights, owner, group):
    dist.broadcast(weights, src=owner, group=group)
    dist.broadcast(weights, src=owner)
"""
    )
    assert "calls of several groups" in refused(files, "def adopt", **root_at(7))


def test_an_answer_by_which_another_file_trains_is_not_mended_in_one() -> None:
    """Gradients would be exchanged in the same round, and the step made by one rank alone."""
    files = train(
        """from contextlib import nullcontext


class Budget:
    @property
    def full(self):
        return self.tokens >= self.limit

    def context(self):
        return nullcontext() if self.full else self.model.no_sync()
""",
        main="""from train import Budget


def fit(budget, optimizer, batches):
    for batch in batches:
        with budget.context():
            budget.model(batch).backward()
        if budget.full:
            optimizer.step()
""",
    )
    assert "decides again at main.py:8" in refused(files, "nullcontext() if")


# No rank is sent into what needs what it has not.


def test_a_name_that_is_made_of_what_is_missing_is_one_that_is_missing() -> None:
    files = train(
        """def resume(marker, state):
    step = marker.read()
    if step is None:  # new
        return 0
    torch.load(f"step{step}.pt")
    dist.broadcast(state, src=0)
    return step
"""
    )
    assert 'has nothing for `f"step{step}.pt"`' in refused(files, "# new")


def test_what_is_only_said_needs_nothing() -> None:
    files = train(
        """def resume(log, step, state):
    if step is None:  # new
        return 0
    log.info(f"goes on at {step}")
    dist.broadcast(state, src=0)
    return 1
"""
    )
    assert changed(files, "# new")[-1] == '+ if guard.agree(step is None, how="all"):  # new'


def test_a_part_of_the_test_that_asks_for_input_is_asked_for_it() -> None:
    files = train(
        """def forward(model, hidden, pixels, where):
    if pixels is not None and where.any():  # seen
        hidden = hidden + model.vision(pixels)
    return model.layers(hidden)
"""
    )
    assert "`pixels is not None` is false has nothing to take part with" in refused(files, "# seen")


# A loop is not ended for everyone by the first who is done, unless that is the meaning.


@pytest.mark.parametrize(
    ("loop", "how"),
    [
        ("while math.isnan(value)", "any"),
        ("while busy(group)", "any"),
        ("while value > 0.1", "any"),
        ("while rounds < limit", "all"),
        ("while not state.stopped", "all"),
    ],
)
def test_a_loop_that_looks_for_something_ends_with_the_last(loop: str, how: str) -> None:
    """One that counts its rounds ends with the first, and one that is told to stop, when one is told."""
    files = train(
        f"""def busy(group):
    waiting = torch.tensor([1.0])
    dist.all_reduce(waiting, group=group)
    return bool(waiting)


def search(evaluate, length, limit, rounds, state, group):
    value = evaluate(length)
    {loop}:  # on
        length *= 0.5
        rounds += 1
        value = evaluate(length)
        dist.barrier()
    return length
"""
    )
    assert f'how="{how}"' in changed(files, "# on")[-1]


def test_training_may_end_with_the_first() -> None:
    files = train(
        """def fit(model, loss, optimizer):
    while loss > 0.1:  # on
        loss = model()
        loss.backward()
        optimizer.step()
"""
    )
    assert changed(files, "# on")[-1] == '+ while guard.agree(loss > 0.1, how="all"):  # on'


@pytest.mark.parametrize("out", ["break", "return 'stopped'"])
def test_a_return_out_of_a_loop_ends_it_like_a_break(out: str) -> None:
    """Only if all wanted to, nobody who has to stop would ever stop."""
    files = train(
        f"""def fit(model, callbacks):
    for step in range(1000):
        model.backward()
        stops = [callback(step) for callback in callbacks]
        if any(stops):  # told
            {out}
"""
    )
    assert changed(files, "# told")[-1] == '+ if guard.agree(any(stops), how="any"):  # told'


def test_a_loop_is_not_cut_to_a_rank_that_has_none_by_what_it_is() -> None:
    """Nobody would report at all."""
    files = train(
        """class Report:
    def __init__(self, sinks, rank):
        self.sinks = [sink() for sink in sinks] if rank == 0 else []

    def flush(self, weight):
        for sink in self.sinks:  # each
            sink.write(weight.full_tensor())


def main(sinks, weight):
    Report(sinks, dist.get_rank()).flush(weight)
"""
    )
    assert "by what each rank is in the job" in refused(files, "# each", world=2)


def test_the_round_that_exchanges_gradients_is_not_cut_off() -> None:
    """All would make the step of what is behind the loop by their own gradients, and nobody would see it."""
    files = train(
        """from contextlib import nullcontext


def step(model, optimizer, batches, last):
    for n, batch in enumerate(batches):  # each
        with nullcontext() if n == last else model.no_sync():
            model(batch).backward()
    optimizer.step()
"""
    )
    assert "are parts of one step" in refused(files, "# each")


def test_what_is_counted_and_decides_again_is_not_mended_in_one_place() -> None:
    """The loop would end for all in one round, and they would still save in different ones."""
    files = train(
        """class Session:
    def __init__(self, kept):
        self.step = len(kept[dist.get_rank()].steps())

    def advance(self, until, weight):
        while self.step < until:  # on
            dist.all_reduce(weight)
            self.step += 1
            if self.step % 4 == 0:
                dist.barrier()
"""
    )
    assert "decides again at train.py:" in refused(files, "# on")


def test_gradients_are_not_cut_off() -> None:
    files = train(
        """def step(loss, weights):
    gradients = torch.autograd.grad(loss, weights)
    for weight, gradient in zip(weights, gradients):  # each
        dist.all_reduce(gradient)
"""
    )
    assert "things with a name" in refused(files, "# each")


# What a rank keeps out stays out, and what it has stays in.


@pytest.mark.parametrize(
    ("test", "made"), [("not math.isfinite(norm)", ""), ("odd", "odd = math.isnan(norm)\n    ")]
)
def test_what_is_no_number_is_nobodys(test: str, made: str) -> None:
    """However far the sum is from it: here it is the scale that would be none."""
    files = train(
        f"""def step(gradients, norm):
    {made}if {test}:  # skip
        return norm
    scale = min(1.0, 1.0 / (norm + 1e-6))
    dist.all_reduce(gradients)
    return scale
"""
    )
    assert changed(files, "# skip")[-1] == f'+ if guard.agree({test}, how="any"):  # skip'


def test_what_one_arm_hands_to_others_further_down_is_kept_out_with_an_else_too() -> None:
    files = train(
        """def mean(update):
    dist.all_reduce(update)
    return update / 2


def day(update, dropped, sound):
    if sound(update):  # usable
        mean(update)
    else:
        dropped.append(1)
"""
    )
    assert changed(files, "# usable")[-1] == '+ if guard.agree(sound(update), how="all"):  # usable'


@pytest.mark.parametrize("quiet", [True, False])
def test_where_batches_are_accumulated_the_others_keep_theirs(quiet: bool) -> None:
    around = "model.no_sync() if n % 4 else nullcontext()" if quiet else "torch.enable_grad()"
    files = train(
        f"""from contextlib import nullcontext


def context(model, n):
    return {around}


def fit(model, batches):
    for n, batch in enumerate(batches):
        if torch.isnan(batch).any():  # bad
            continue
        with context(model, n):
            loss = model(batch)
            loss.backward()
            dist.all_reduce(loss)
"""
    )
    if quiet:
        assert "are accumulated here" in refused(files, "# bad")
    else:
        assert changed(files, "# bad")[-1].endswith('how="any"):  # bad')


def test_what_a_filter_hands_on_is_not_voted_on() -> None:
    files = train(
        """def unseen(stream):
    known = set()
    for document in stream:
        if document.key not in known:  # new
            known.add(document.key)
            yield document
"""
    )
    assert "which items a generator hands on" in refused(files, "# new")


def test_a_table_under_keys_of_its_own_is_not_begun_anew() -> None:
    files = train(
        """class Board:
    def row(self, name):
        if name not in self.rows:  # new
            self.rows[name] = []
        return self.rows[name]

    def finish(self):
        for name in self.rows:
            dist.all_reduce(self.rows[name])
"""
    )
    assert "under keys of its own" in refused(files, "# new")


def test_own_work_is_not_left_out_where_it_is_stored_either() -> None:
    files = train(
        """def losses(count, wanted, parts):
    crowded = wanted > 9
    if crowded.any():  # many
        parts["crowd"] = (count - wanted)[crowded].abs().mean()
    return parts
"""
    )
    assert "each rank's own work" in refused(files, "# many")


# In the words of the framework.


def test_a_metric_is_asked_for_by_all_and_used_by_one() -> None:
    """torchmetrics synchronises in `compute`."""
    files = train(
        """from torchmetrics import MeanMetric


def report(metric, rank):
    if rank == 0:  # first
        value = metric.compute()
        print(value)
"""
    )
    site = Site((0,), "all_gather", "train.py", 11, "report")
    assert changed(files, "# first", sites=(site, Site((1,))), culprits=(0,)) == [
        "+ value = metric.compute()",
        "- value = metric.compute()",
    ]


def test_what_accelerate_gathers_is_gathered_on_every_process() -> None:
    files = train(
        """from accelerate import Accelerator


def report(accelerator: Accelerator, loss):
    if accelerator.is_main_process:  # first
        losses = accelerator.gather(loss)
        print(losses.mean())
"""
    )
    assert changed(files, "# first") == [
        "+ losses = accelerator.gather(loss)",
        "- losses = accelerator.gather(loss)",
    ]


def test_all_processes_of_accelerate_wait_for_what_one_has_prepared() -> None:
    files = train(
        """from accelerate import Accelerator


def prepare(accelerator: Accelerator, cache):
    if accelerator.is_main_process:  # first
        cache.fill()
        accelerator.wait_for_everyone()
    return cache.read()
"""
    )
    assert changed(files, "# first") == [
        "- accelerator.wait_for_everyone()",
        "+ accelerator.wait_for_everyone()",
    ]


def test_a_module_of_lightning_raises_on_all_ranks_by_its_strategy() -> None:
    files = train(
        """import lightning as L


class Net(L.LightningModule):
    def training_step(self, batch, index):
        loss = self.net(batch)
        if loss.item() > 1e6:  # wild
            raise ValueError("the loss is beyond all bounds")
        dist.all_reduce(loss)
        return loss
"""
    )
    assert changed(files, "# wild")[-1] == (
        "+ if self.trainer.strategy.reduce_boolean_decision(bool(loss.item() > 1e6), all=False):  # wild"
    )


STATES = [
    ("from accelerate import Accelerator", "state: Accelerator", "state.main_process_first()"),
    ("from accelerate import PartialState", "state: PartialState", "state.main_process_first()"),
    (
        "from transformers import TrainingArguments",
        "state: TrainingArguments",
        "state.main_process_first(local=False)",
    ),
]


@pytest.mark.parametrize(("imported", "given", "first"), STATES)
def test_who_finds_what_the_main_process_has_made_waits_for_nobody(
    imported: str, given: str, first: str
) -> None:
    files = train(
        f"""{imported}


def prepare(cache, {given}):
    if not cache.exists():  # made once
        cache.write_bytes(tokenized())  # takes long
        dist.barrier()
    return cache.read_bytes()
"""
    )
    assert changed(files, "# made once", cause="skipped_collective") == [
        "- if not cache.exists():  # made once",
        "- cache.write_bytes(tokenized())  # takes long",
        "- dist.barrier()",
        f"+ with {first}:",
        "+ if not cache.exists():  # made once",
        "+ cache.write_bytes(tokenized())  # takes long",
    ]


@pytest.mark.parametrize("anchor", ["# the others", "# the first"])
@pytest.mark.parametrize(("what", "first"), [("main", "main"), ("local_main", "local_main")])
def test_two_waits_around_what_the_main_process_prepares_are_one_block(
    anchor: str, what: str, first: str
) -> None:
    files = train(
        f"""from accelerate import Accelerator


def prepare(accelerator: Accelerator, cache):
    if not accelerator.is_{what}_process:  # the others
        accelerator.wait_for_everyone()
    stale = cache.stale()
    cache.fill()
    if accelerator.is_{what}_process and stale:  # the first
        accelerator.wait_for_everyone()
    return cache.read()
"""
    )
    assert [line for line in changed(files, anchor) if line[0] == "+"] == [
        f"+ with accelerator.{first}_process_first():",
        "+ stale = cache.stale()",
        "+ cache.fill()",
    ]


@pytest.mark.parametrize(
    ("imported", "work"),
    [
        # Nothing of Accelerate is at hand.
        ("from pathlib import Path", "cache.fill()"),
        # The others are needed for it.
        ("from accelerate import Accelerator", "dist.all_reduce(cache.sizes)"),
        # It is left in the middle.
        ("from accelerate import Accelerator", "return cache.fill()"),
    ],
)
def test_the_main_process_does_not_go_first_where_it_cannot(imported: str, work: str) -> None:
    given = "accelerator: Accelerator" if "accelerate" in imported else "accelerator"
    files = train(
        f"""{imported}


def prepare(cache, {given}):
    if not cache.exists():  # made once
        {work}
        dist.barrier()
    return cache.read_bytes()
"""
    )
    found = patched(problem(files, "# made once", cause="skipped_collective"), files)
    assert "main_process_first" not in getattr(found, "after", "")


@pytest.mark.parametrize(
    ("block", "inside"),
    [("accelerator.main_process_first()", True), ("accelerator.profile()", False)],
    ids=["the main process goes first", "another block"],
)
def test_who_has_what_is_made_in_the_block_asks_inside_of_it(block: str, inside: bool) -> None:
    files = train(
        f"""from accelerate import Accelerator


def prepare(accelerator: Accelerator, store):
    if store.fresh:  # there
        return store.read()
    with {block}:
        accelerator.wait_for_everyone()
        return store.build()
"""
    )
    found = patched(problem(files, "# there", cause="extra_collective"), files)
    after = getattr(found, "after", "")
    moved = f"""    with {block}:
        if store.fresh:  # there
            return store.read()
        accelerator.wait_for_everyone()
"""
    assert (moved in after) is inside


# A loop is not ended for all by the first that is done.


RELAX = """class Box:
    def __init__(self, x):
        self.x = x

    def sweep(self, edge):
        new = 0.5 * self.x + edge
        gone, self.x = (new - self.x).abs().max().item(), new
        return gone


def near(err, tol):
    return err < tol


def relax(box, x, tol, limit, rounds):
    bad = 0
    near_enough = False
    {loop}
        dist.all_reduce(x)
        {body}
"""


def way_out(test: str, before: str, loop: str = "while True:", way: str = "break") -> Texts:
    body = f"{before}\n        if {test}:  # test\n            {way}"
    return train(RELAX.format(loop=loop, body=body))


STEP = "new = 0.5 * x; err = (new - x).abs().max().item(); x = new"


@pytest.mark.parametrize(
    ("test", "before"),
    [
        ("err < tol", STEP),
        ("tol >= err", STEP),
        ("err <= 1e-3 * limit", STEP),
        ("not err > tol", STEP),
        ("torch.allclose(x, y)", "y = x; x = 0.5 * x"),
        ("err < tol", "g = 2 * x; x -= 0.1 * g; err = g.norm().item()"),
        ("near_enough", f"{STEP}; near_enough = err < tol"),
        ("box.sweep(x) < tol", ""),
        ("gone < tol", "gone = box.sweep(x)"),
        ("near(err, tol)", STEP),
    ],
)
@pytest.mark.parametrize("loop", ["while True:", "for _ in range(rounds):"])
@pytest.mark.parametrize("way", ["break", "return x"])
def test_who_is_near_enough_waits_for_who_is_not(test: str, before: str, loop: str, way: str) -> None:
    assert 'how="all"' in changed(way_out(test, before, loop, way), "# test")[-1]


@pytest.mark.parametrize(
    ("test", "before"),
    [
        ("bad > limit", "bad += 1"),
        ("bad > limit", "bad = bad + len(box.rows)"),
        ("left < limit", "left = math.floor(box.clock() - 3)"),
        ("box.told_to_stop()", STEP),
        ("box.rows < limit", "box.rows = box.rows - 3"),
    ],
)
def test_who_counts_or_is_told_ends_it_for_all(test: str, before: str) -> None:
    assert 'how="any"' in changed(way_out(test, before), "# test")[-1]


def test_whether_a_value_that_grows_is_an_end_or_a_failure_is_not_guessed() -> None:
    assert "with MIN or with MAX" in refused(way_out("err > limit", STEP), "# test")


def test_a_flag_that_says_near_enough_keeps_the_loop_going_for_all() -> None:
    files = train(
        RELAX.format(loop="while not near_enough:  # test", body=f"{STEP}; near_enough = err < tol")
    )
    assert changed(files, "# test")[-1] == '+ while guard.agree(not near_enough, how="any"):  # test'
