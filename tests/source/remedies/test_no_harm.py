"""What rounds of unseen programs showed of patches that did not hold: each is refused, and its harmless like is not."""

from __future__ import annotations

from typing import Any

import pytest
from support.source.remedy_cases import Texts, changed, refused

from rankandfile.model.diagnosis import Diagnosis, Job, Location, Standing, Verdict
from rankandfile.source.remedies import Patch, Refusal, Site, patched
from rankandfile.source.remedies.problem import of_verdict

pytestmark = pytest.mark.slow

HEAD = "import torch\nimport torch.distributed as dist\n\n\n"


def train(body: str) -> Texts:
    return Texts(train=HEAD + body)


HALO = """def swap(rank, mine, theirs, group):
    if rank % 2:  # odd
        {one}(theirs, (rank - 1) % 4)
        {other}(mine, (rank + 1) % 4)
    else:
        {other}(mine, (rank + 1) % 4)
        {one}(theirs, (rank - 1) % 4)
"""


def test_senders_and_receivers_take_no_one_order() -> None:
    files = train(HALO.format(one="dist.recv", other="dist.send"))
    assert "one side sends while the other receives" in refused(
        files, "# odd", cause="order_inversion", kind="cycle"
    )


NOTICE = """class Notice:
    def while_welcome(self, items):
        for item in items:
            if self.given:
                return
            yield item


def train(notice, batches):
    for epoch in range(3):
        for batch in notice.while_welcome(batches):  # rounds
            dist.all_reduce(batch)
        {behind}
        dist.barrier()
"""


@pytest.mark.parametrize(
    ("behind", "again"), [("if notice.given: break", True), ("notice.told(epoch)", False)]
)
def test_a_loop_is_not_cut_where_what_ended_it_is_asked_again_behind_it(behind: str, again: bool) -> None:
    """All would leave the loop together, and then go different ways upon the same notice."""
    files = train(NOTICE.format(behind=behind))
    if again:
        assert "ends upon `given`" in refused(files, "# rounds")
    else:
        assert any("uneven" in line for line in changed(files, "# rounds"))


def test_collectives_of_two_groups_do() -> None:
    files = train(HALO.format(one="dist.broadcast", other="dist.reduce"))
    assert changed(files, "# odd", cause="order_inversion", kind="cycle")


@pytest.mark.parametrize(
    "items", ["net.parameters()", "self.columns.items()", "self.columns", "enumerate(self.columns.values())"]
)
def test_things_with_a_name_are_not_cut_off(items: str) -> None:
    files = train(
        f"""class Census:
    def merge(self, net):
        for item in {items}:  # each
            dist.all_reduce(self.columns[item])
"""
    )
    assert "things with a name" in refused(files, "# each")


@pytest.mark.parametrize("name", ["name", 'f"val/{name}"'])
def test_what_is_logged_under_a_name_of_its_own_is_not_cut_off(name: str) -> None:
    """Each rank's generator makes other ones: the least of their numbers pairs what does not belong together."""
    files = train(
        f"""class Scores:
    def validation_step(self, batch):
        for name, value in by_site(batch):  # each
            self.log({name}, value, sync_dist=True)
"""
    )
    assert "things with a name" in refused(files, "# each")


@pytest.mark.parametrize("round_", ["hook(self)", "hook.after(self)"])
def test_hooks_that_ranks_have_otherwise_are_not_cut_off(round_: str) -> None:
    files = train(
        f"""class Meter:
    def after(self, engine):
        dist.all_reduce(engine.total)


class Engine:
    def __init__(self):
        self.hooks = [Meter()]

    def fire(self):
        for hook in self.hooks:  # each
            {round_}
"""
    )
    assert "what the item itself does" in refused(files, "# each")


def test_tasks_that_say_what_is_called_are_not_cut_off() -> None:
    files = train(
        """def dense(head):
    dist.all_reduce(head)


def rows(head):
    dist.all_gather([], head)


SHARE = {"dense": dense, "rows": rows}


def share(tasks):
    for task in tasks.by_urgency():  # each
        SHARE[task.kind](task.head)
"""
    )
    assert "does, or says" in refused(files, "# each")


def test_parts_of_a_model_that_a_function_picks_out_are_things_with_a_name() -> None:
    files = train(
        """def large(model):
    for name, param in model.named_parameters():
        if param.max() > 9:
            yield param


def fit(model):
    for param in large(model):  # each
        dist.all_reduce(param)
"""
    )
    assert "things with a name" in refused(files, "# each")


def test_a_table_that_is_asked_for_something_else_by_the_item_cuts_nothing_off() -> None:
    files = train(
        "HEADS = {'a': len}\ndef fit(batches):\n    for batch in batches:  # each\n"
        "        dist.all_reduce(HEADS[batch.task](batch))\n"
    )
    assert changed(files, "# each")


def test_a_method_of_a_batch_is_no_hook() -> None:
    files = train(
        "def fit(batches):\n    for batch in batches:  # each\n        dist.all_reduce(batch.to('cpu'))\n"
    )
    assert changed(files, "# each")


def test_items_of_a_kind_are() -> None:
    files = train("def fit(batches):\n    for batch in batches:  # each\n        dist.all_reduce(batch)\n")
    assert changed(files, "# each")


RELAY = """def relay(part, rank, hops):
    for hop in range({hops}):  # each
        {round}
"""
HANDS_ON = "dist.send(part, (rank + hop) % 4)\n        dist.recv(part, (rank - hop) % 4)"


@pytest.mark.parametrize("hops", ["1, hops + 1", "hops"])
def test_rounds_that_hand_something_on_are_not_cut_to_the_least(hops: str) -> None:
    said = refused(train(RELAY.format(hops=hops, round=HANDS_ON)), "# each")
    assert f"each round over `range({hops})` hands something on to another rank" in said
    assert "as often as the one with the most" in said
    assert changed(train(RELAY.format(hops=hops, round="dist.all_reduce(part)")), "# each")


RETRIED = """def step(batches):
    for batch in batches:  # each
        dist.all_reduce(batch)


def fit(batches):
    {loop}:
        try:
            step(batches)
        except MemoryError:
            {after}
"""


@pytest.mark.parametrize("loop", ["for _ in range(3)", "while True"])
def test_a_loop_that_an_exception_ends_is_not_made_even(loop: str) -> None:
    assert "catches it and goes on" in refused(
        train(RETRIED.format(loop=loop, after="batches.shrink()")), "# each"
    )


@pytest.mark.parametrize(("loop", "after"), [("if batches", "print('full')"), ("while True", "raise")])
def test_where_nothing_begins_again_it_is(loop: str, after: str) -> None:
    assert changed(train(RETRIED.format(loop=loop, after=after)), "# each")


def test_a_part_of_the_test_that_decides_again_is_not_left() -> None:
    files = train(
        """import signal


class Fit:
    def __init__(self):
        self.ending = False
        signal.signal(signal.SIGUSR1, self.notice)

    def notice(self, number, frame):
        self.ending = True

    def run(self, weight):
        for step in range(99):
            if step % 5 == 0 or self.ending:  # save
                dist.all_reduce(weight)
            if self.ending:
                return
"""
    )
    assert "decides again at" in refused(files, "# save")


GUARDED = """class Field:
    def energy(self):
        if self.kept is None:  # kept
            dist.all_reduce(self.total)
            self.kept = float(self.total)
        return self.kept


field = Field()


def report():
    if {test}:
        print(field.energy())


field.energy()
report()
"""


def test_no_vote_where_some_come_more_often() -> None:
    files = train(GUARDED.format(test="dist.get_rank() == 0"))
    assert "would not answer a vote" in refused(files, "# kept", world=4)


def test_a_vote_where_nobody_comes_alone() -> None:
    files = train(GUARDED.format(test="field.loud"))
    assert changed(files, "# kept", world=4)


def test_no_vote_where_nobody_is_seen_to_come() -> None:
    body = "class Booth:\n    def step(self):\n        if self.bad > 3:  # bad\n            dist.all_reduce(self.bad)\n"
    assert "nothing shows that all ranks come" in refused(train(body), "# bad", others_unseen=True)
    called = f"{body}\n\ndef fit():\n    Booth().step()\n"
    assert changed(train(called), "# bad", others_unseen=True)


def test_own_work_is_not_left_out_for_others() -> None:
    files = train(
        """def add(metrics, grades, labels, lit):
    if lit.any():  # some
        metrics.update(grades[lit], labels[lit])
"""
    )
    site = Site(ranks=(0,), op="all_gather", file="metric.py", line=9, function="compute")
    assert "each rank's own work, in which nobody waits" in refused(files, "# some", sites=(site,))


@pytest.mark.parametrize("tower", ['self.towers["vision"]', "self.tower", "tower"])
def test_of_code_that_is_looked_up_when_it_runs_nobody_says_that_no_rank_waits_in_it(tower: str) -> None:
    files = train(
        f"""def forward(self, x, pictures):
    tower = self.towers["vision"]
    if pictures:  # some
        x[0] += {tower}(torch.stack(list(pictures.values())))
    return x
"""
    )
    site = Site(ranks=(0,), op="all_reduce", file="layers.py", line=9, function="reduce")
    said = refused(files, "# some", sites=(site,))
    assert "each rank's own work: to do it only where all can" in said
    assert "nobody waits" not in said


FUSED = """def forward(self, batch):
    x = self.words(batch.tokens)
    if batch.images is not None:  # images
        x = self.fuse(x, batch.images{more})
    return x
"""


def test_what_comes_with_the_missing_input_is_missing_too() -> None:
    assert any("or_zeros" in line for line in changed(train(FUSED.format(more="")), "# images"))
    assert "has nothing to take part with" in refused(train(FUSED.format(more=", batch.owner")), "# images")


STOP = """def fit(model, loader):
    for batch in loader:
        loss = model(batch)
        if loss.item() < 0.1:  # good enough
            break
        dist.all_reduce(loss)
"""


def verdict(**known: Any) -> Verdict:
    location = Location(
        file="train.py", line=8, condition="if loss.item() < 0.1:", condition_line=8, why_it_can_differ="x"
    )
    return Verdict(
        **{"hang": True, "cause": "different_collective", "family": "arguments", "confidence": "supported",
           "sentence": "", "location": location, **known}
    )  # fmt: skip


def diagnosis(verdict: Verdict, calls: int) -> Diagnosis:
    job = Job(world_size=None, ranks_seen="", groups=[], group_count=0, calls=calls, dumps=0)
    seen = [Standing(ranks="0-2", state="waits", what=""), Standing(ranks="3", state="waits", what="")]
    return Diagnosis(job=job, verdicts=[verdict], evidence=[], notes=[], standings=seen)


@pytest.mark.parametrize(
    ("known", "calls", "offered"),
    [
        ({}, 0, True),
        ({"confidence": "hypothesis"}, 0, False),
        ({"cause": "undetermined", "family": "unknown"}, 0, False),
        ({"confidence": "hypothesis"}, 40, True),
    ],
)
def test_without_a_recorded_call_nothing_is_changed_on_a_guess(
    known: dict[str, Any], calls: int, offered: bool
) -> None:
    said = verdict(**known)
    found = of_verdict(said, diagnosis(said, calls))
    assert found is not None
    answer = patched(found, train(STOP))
    assert isinstance(answer, Patch) is offered, answer
    if isinstance(answer, Refusal):
        assert "no call was recorded" in answer.words


def test_of_a_job_that_only_stacks_tell_of_each_rank_seen_is_asked() -> None:
    """Without dumps nobody tells how many ranks the job has: those that were seen are some of them."""
    said = verdict()
    found = of_verdict(said, diagnosis(said, 0))
    assert found is not None and found.world == 4


@pytest.mark.parametrize(("first", "offered"), [("resumed(dist.get_rank())", False), ("0", True)])
def test_no_vote_in_rounds_that_a_rank_counts_from_a_number_of_its_own(first: str, offered: bool) -> None:
    """Who began later is through sooner: the others' last votes would wait for it."""
    files = train(
        f"""def resumed(rank):
    return len(open(f"saved-{{rank}}").read())


def fit(loss, steps):
    start = {first}
    for step in range(start, steps):
        dist.all_reduce(loss)
        if loss.item() < 0.1:  # due
            dist.all_gather([loss], loss)
"""
    )
    if offered:
        assert changed(files, "# due")
    else:
        assert "some perhaps more often than others" in refused(files, "# due")


KEPT = """import os


def resume(weight, path):
    if os.path.exists(path):  # kept
        step = torch.load(path)
        dist.all_reduce(step)
        return int(step)
    return 0
"""


@pytest.mark.parametrize(
    ("calls", "offered"),
    [
        pytest.param(
            "for step in range(resume(weight, path), 8):\n    dist.all_reduce(weight)", True, id="begins"
        ),
        pytest.param("for n in range(begun()):\n    resume(weight, path)", False, id="in each round"),
    ],
)
def test_rounds_of_a_caller_in_another_file(calls: str, offered: bool) -> None:
    """What says how often a loop goes round is asked once, before the first round; and a refusal quotes the file that
    the loop is in."""
    caller = "from train import resume\n\n\ndef begun():\n    return len(open(f'saved-{dist.get_rank()}').read())\n\n\n"
    caller += "def rounds(weight, path):\n" + "".join(f"    {line}\n" for line in calls.split("\n"))
    files = Texts(train=HEAD + KEPT, main=HEAD + "# more\n" * 40 + caller)
    if offered:
        assert changed(files, "# kept")
    else:
        assert "`range(begun())` (main.py:53)" in refused(files, "# kept")


@pytest.mark.parametrize("own", [True, False])
def test_no_vote_on_what_a_loop_has_gathered_of_things_that_each_rank_has_more_or_less_of(own: bool) -> None:
    """That one has gathered enough and another has not comes of its loop's end, behind which nobody votes."""
    files = train(
        f"""buffer = []


def open_tasks(tasks):
    {"tasks = [task for task in tasks if task % dist.get_world_size() == dist.get_rank()]" if own else ""}
    return tasks


def fit(loss, tasks):
    todo = open_tasks(tasks)
    for task in todo:
        buffer.append(task)
        if len(buffer) == 4:  # due
            dist.barrier()
            buffer.clear()
"""
    )
    if own:
        assert "some perhaps more often than others" in refused(files, "# due")
    else:
        assert changed(files, "# due")


BUDGET = """import time


def spent(began):
    return time.monotonic() - began


def save_if_due(loss):
    if loss.item() < 0.1:  # due
        dist.all_gather([loss], loss)


def fit(loss):
    began, step = time.monotonic(), 0
    while {test}:
        step += 1
        save_if_due(loss)
"""


@pytest.mark.parametrize(
    ("test", "offered"),
    [
        pytest.param("spent(began) < 60", False, id="its own clock"),
        pytest.param("step < 100", True, id="as many on all ranks"),
    ],
)
def test_no_vote_in_a_function_that_a_loop_calls_which_some_leave_sooner(test: str, offered: bool) -> None:
    files = train(BUDGET.format(test=test))
    if offered:
        assert changed(files, "# due")
    else:
        assert "some perhaps more often than others" in refused(files, "# due")


def test_a_vote_in_a_loop_that_goes_on_until_the_decision_says_otherwise() -> None:
    """What the loop asks for is agreed on with the decision."""
    files = train(
        """def fit(loss):
    done = False
    while not done:
        dist.all_reduce(loss)
        if loss.item() * dist.get_rank() < 0.1:  # due
            done = True
            dist.all_gather([loss], loss)
"""
    )
    assert changed(files, "# due")


@pytest.mark.parametrize("two_ways", [True, False])
def test_an_exchange_with_an_order_for_each_side_is_not_half_mended(two_ways: bool) -> None:
    """In batches on the one side and in order on the other, whoever sends first would wait as before."""
    body = (
        """    if dist.get_rank() % 2 == 0:
        dist.send(mine, after)
        dist.recv(theirs, before)
    else:
        dist.recv(theirs, before)  # first
        dist.send(mine, after)
"""
        if two_ways
        else """    dist.recv(theirs, before)  # first
    dist.send(mine, after)
"""
    )
    files = train(f"def rotate(mine, theirs, before, after):\n{body}")
    if two_ways:
        assert "an order of its own" in refused(files, "# first", cause="order_inversion", kind="cycle")
    else:
        assert "batch_isend_irecv" in str(changed(files, "# first", cause="order_inversion", kind="cycle"))


@pytest.mark.parametrize(("closes", "even"), [("(n + 1) % 4 == 0", True), ("micro.tokens > 100", False)])
def test_rounds_of_which_each_rank_says_which_exchange_gradients_are_not_made_equally_many(
    closes: str, even: bool
) -> None:
    files = train(
        f"""import contextlib


def fit(model, shard, optimizer):
    for n, micro in enumerate(open(f"shard-{{dist.get_rank()}}")):  # each
        with contextlib.nullcontext() if {closes} else model.no_sync():
            model(micro).backward()
        if {closes}:
            dist.all_reduce(model.loss)
            optimizer.step()
"""
    )
    if even:
        assert "guard.uneven" in str(changed(files, "# each", cause="uneven_inputs"))
    else:
        assert "unequally many calls" in refused(files, "# each", cause="uneven_inputs")


@pytest.mark.parametrize(
    ("asks", "offered"),
    [("gains is not None", False), ("not gains", False), ("step % 2 == 0", True), ("gains.sum() > 5", True)],
)
def test_who_has_nothing_is_not_made_to_say_that_it_has_something(asks: str, offered: bool) -> None:
    """The caller works on the answers where the function did: there are none."""
    files = train(
        f"""def gains_of(answers):
    if not answers:  # nothing
        return None
    sums = torch.tensor([float(len(a)) for a in answers]).sum()
    dist.all_reduce(sums)
    return sums


def rounds(policy):
    for step in range(100):
        answers = policy.answers(step)
        gains = gains_of(answers)
        if {asks}:
            policy.learn(torch.stack(answers))
"""
    )
    if offered:
        assert changed(files, "# nothing")
    else:
        assert "a caller asks for that" in refused(files, "# nothing")


SUM = """def summed(t):
    dist.all_reduce(t)
    return t


def summed_copy(t):
    copy = t.clone()
    dist.all_reduce(copy)
    return copy


def fit(loader, seen, due):
    rank = dist.get_rank()
    for step in range(12):
        seen += 8
        if {test}:  # test
            {body}
"""


@pytest.mark.parametrize(
    ("test", "body", "put"),
    [
        ("rank == 0", "print(summed(seen).item())", ["+ summed_of_all = summed(seen)"]),
        # A sum in place, in every step, would be another number.
        (
            "rank == 0 and step % 4 == 3",
            "print(summed(seen).item())",
            ["+ if step % 4 == 3:", "+ summed_of_all = summed(seen)"],
        ),
        (
            "step % 4 == 3 and rank == 0",
            "total = summed(seen)\n            print(total)",
            ["+ if step % 4 == 3:", "+ total = summed(seen)"],
        ),
        (
            "rank == 0 and step % 4 == 3",
            "print(step)\n            dist.all_reduce(seen)",
            ["+ if step % 4 == 3:"],
        ),
        # What no rank can ask for another is not asked; a sum of a copy may be made once more.
        (
            "rank == 0 and due()",
            "print(summed_copy(seen).item())",
            ["+ summed_copy_of_all = summed_copy(seen)"],
        ),
    ],
)
def test_what_comes_out_of_a_test_of_the_rank_is_made_in_no_other_round(
    test: str, body: str, put: list[str]
) -> None:
    lines = changed(train(SUM.format(test=test, body=body)), "# test", plain=True)
    assert [line for line in lines if line in put] == put
    assert put[0].startswith("+ if") or not any(line.startswith("+ if") for line in lines)


@pytest.mark.parametrize(
    ("test", "body"),
    [
        ("rank == 0 and due()", "print(summed(seen).item())"),
        ("rank == 0 and seen.max() > 9", "print(summed(seen).item())"),
        # The branch itself says in which round it comes again.
        ("rank == 0 and step > 3", "step = 0\n            dist.all_reduce(seen)"),
        # A test within the statement decides whether it is called at all.
        ("rank == 0", "len(loader) > 3 and summed(seen)"),
        ("rank == 0", "print(summed(seen) if due() else 0)"),
    ],
)
def test_what_would_change_numbers_stays_under_the_test_of_the_rank(test: str, body: str) -> None:
    assert "all ranks" in refused(train(SUM.format(test=test, body=body)), "# test")


TABLE = """class Table:
    def {method}(self, side):
        if side in self.rows:  # kept
            return self.rows[side]
        found = torch.ones(side)
        dist.all_reduce(found)
        self.rows[side] = found
        return found
"""


def test_a_method_that_an_operator_calls_is_no_place_for_a_vote() -> None:
    """`table[side]` may be asked for on one rank alone, for a preview."""
    assert "asked by whoever has the object" in refused(train(TABLE.format(method="__getitem__")), "# kept")
    assert changed(train(TABLE.format(method="measured")), "# kept")
