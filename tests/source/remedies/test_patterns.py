"""Each pattern at a place of its kind, and at a place where it would be wrong."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.source.remedy_cases import Texts, changed, problem, refused

from rankandfile.evidence.files.worker import decode
from rankandfile.source.remedies import Patch, Site, patched, patches

pytestmark = pytest.mark.slow

HEAD = "import torch.distributed as dist\n\n\n"


def train(body: str) -> Texts:
    return Texts(train=HEAD + body)


def test_a_stop_of_one_is_a_stop_of_all() -> None:
    files = train(
        """def fit(model, loader):
    for step, batch in enumerate(loader):
        loss = model(batch)
        if loss.item() < 0.1:  # good enough
            break
        loss.backward()
"""
    )
    assert changed(files, "good enough") == [
        "- if loss.item() < 0.1:  # good enough",
        '+ if guard.agree(loss.item() < 0.1, how="any"):  # good enough',
    ]
    plain = changed(files, "good enough", plain=True)
    assert plain[-1] == "+ if any_rank(loss.item() < 0.1):  # good enough"
    assert any("ReduceOp.MAX" in line for line in plain)


def test_a_callback_of_lightning_agrees_by_its_strategy() -> None:
    files = Texts(
        train=HEAD
        + """import lightning as L


class Stop(L.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if outputs["loss"].item() < 0.1:  # good enough
            trainer.should_stop = True
            return
        dist.all_reduce(outputs["loss"])
"""
    )
    assert changed(files, "good enough", plain=True) == [
        '- if outputs["loss"].item() < 0.1:  # good enough',
        '+ if trainer.strategy.reduce_boolean_decision(bool(outputs["loss"].item() < 0.1), all=True):  # good enough',
    ]


def test_a_loop_of_accelerate_agrees_by_its_accelerator() -> None:
    files = Texts(
        train="""import torch
from accelerate import Accelerator


def fit(accelerator: Accelerator, model, loader):
    for batch in loader:
        loss = model(batch)
        if loss.item() < 0.1:  # good enough
            break
        accelerator.backward(loss)
        accelerator.gather(loss)
"""
    )
    assert changed(files, "good enough")[-1] == (
        "+ if accelerator.reduce(torch.tensor(float(bool(loss.item() < 0.1)), device=accelerator.device), "
        'reduction="sum").item() > 0:  # good enough'
    )


def test_what_asks_all_ranks_within_the_test_is_asked_by_all_or_none() -> None:
    """A vote on the whole test would come behind the call that only some ranks make."""
    files = Texts(
        train=HEAD
        + """from accelerate import Accelerator

def fit(model, loader):
    accelerator = Accelerator()
    for step, batch in enumerate(loader):
        loss = model(batch)
        if loss.item() > 9 and accelerator.check_trigger():  # odd
            return
        accelerator.backward(loss)
"""
    )
    at = (
        files.files["train.py"]
        .split("\n")
        .index("        if loss.item() > 9 and accelerator.check_trigger():  # odd")
    )
    site = Site((1,), op="all_reduce", file="train.py", line=at + 1, function="fit")
    _, after = changed(files, "odd", plain=True, sites=(site,))
    assert after.endswith("and accelerator.check_trigger():  # odd") and after.count("check_trigger") == 1
    assert "accelerator.reduce(" in after


def test_an_accelerator_is_one_by_what_it_is_made_of_and_not_by_its_name() -> None:
    files = Texts(
        train="""import torch
import accelerate

handle = accelerate.Accelerator()


def other():
    handle = open("x")
    if handle.closed:  # of a file
        return
    handle2 = accelerate.Accelerator()


def fit(model, loader):
    for batch in loader:
        loss = model(batch)
        if loss.item() < 0.1:  # good enough
            break
        handle.backward(loss)
        handle.gather(loss)
"""
    )
    assert changed(files, "good enough")[-1] == (
        "+ if handle.reduce(torch.tensor(float(bool(loss.item() < 0.1)), device=handle.device), "
        'reduction="sum").item() > 0:  # good enough'
    )


@pytest.mark.parametrize(
    ("test", "given", "moved"),
    [
        ("x.abs().max() > 4.0", "", False),
        ("x.abs().max() > 4.0", ", op=dist.ReduceOp.MAX", True),
        ("x.mean() < 0.1", ", dist.ReduceOp.SUM", False),
        ("torch.isnan(x).any()", "", True),
    ],
)
def test_a_threshold_is_not_moved_behind_a_sum(test: str, given: str, moved: bool) -> None:
    """Of a sum over all ranks, what was large for one rank is nothing."""
    files = train(
        f"""def steps(batches):
    for x in batches:
        if {test}:
            continue
        dist.all_reduce(x{given})
"""
    )
    lines = changed(files, test)
    assert any(line.startswith("- ") and "all_reduce" in line for line in lines) == moved


def test_a_batch_that_cannot_be_trained_on_is_left_out_by_all() -> None:
    files = train(
        """def step(model, batch):
    if batch.numel() == 0:
        return None
    model(batch).backward()
"""
    )
    assert changed(files, "numel")[-1] == '+ if guard.agree(batch.numel() == 0, how="any"):'


def test_a_sum_is_left_out_only_by_all() -> None:
    files = train(
        """class Layer:
    def forward(self, x):
        if x.shape[0] == 0:
            return x
        dist.all_reduce(x, group=self.group)
        return x * 2
"""
    )
    # `x` is about to be reduced, but the early return hands out what it is now: that would not be the same value.
    assert changed(files, "shape[0]")[-1].startswith(("+ if", "+ dist", "- dist"))


def test_decoding_goes_on_until_the_last_rank_is_done() -> None:
    files = Texts(
        train="""
        import torch


        @torch.no_grad()
        def generate(model, tokens):
            while True:
                tokens = model(tokens)
                if bool((tokens == 2).all()):
                    break
            return tokens
        """
    )
    assert 'how="all"' in changed(files, "== 2")[-1]


def test_the_group_of_the_calls_must_agree_also_through_calls() -> None:
    files = train(
        """def total(values, group):
    dist.all_reduce(values, group=group)
    return values


class Layer:
    def forward(self, x):
        if x.sum() < 1.0:
            return x
        return total(x.clone(), self.mesh_group)
"""
    )
    assert "group=self.mesh_group" in changed(files, "x.sum()", whole_job=False)[-1]


def test_a_group_that_has_no_name_here_is_not_guessed() -> None:
    files = train(
        """def total(values):
    group = choose_group()
    dist.all_reduce(values, group=group)


def report(x):
    if x.sum() < 1.0:
        return
    total(x)
"""
    )
    assert "no name" in refused(files, "x.sum()", whole_job=False)


@pytest.mark.parametrize(
    ("group", "named"), [('mesh.get_group("tp")', "mesh.get_group('tp')"), ('groups["tp"]', "groups['tp']")]
)
def test_a_group_that_is_asked_for_further_down_is_asked_for_here(group: str, named: str) -> None:
    files = train(
        f"""def summary(x, mesh, groups):
    dist.all_reduce(x, group={group})


def fit(x, mesh, groups, found):
    if found():
        summary(x, mesh, groups)
"""
    )
    assert changed(files, "if found")[-1] == f'+ if guard.agree(found(), how="any", group={named}):'


def test_a_random_draw_and_a_count_are_the_first_ranks() -> None:
    files = train(
        """def drop(layers, x, rng):
    for layer in layers:
        if rng.random() < 0.1:
            continue
        x = layer(x)
        dist.all_reduce(x)
    return x


def report(counter, x):
    if counter.ticks % 10 == 0:
        dist.all_reduce(x)
"""
    )
    assert changed(files, "rng.random()")[-1] == "+ if guard.share(rng.random() < 0.1):"
    assert changed(files, "% 10")[-1] == "+ if guard.share(counter.ticks % 10 == 0):"


def test_a_collective_comes_out_of_a_test_of_the_rank() -> None:
    files = train(
        """def save(model, path):
    if dist.get_rank() == 0:
        state = {k: v.full_tensor() for k, v in model.items()}
        write(path, state)


def mark(path):
    if dist.get_rank() == 0:
        open(path, "w").close()
        dist.barrier()
"""
    )
    text = files.files["train.py"]
    first = patched(
        problem(Texts(train=text.split("def mark")[0]), "get_rank"), Texts(train=text.split("def mark")[0])
    )
    assert isinstance(first, Patch)
    assert first.after.index("full_tensor") < first.after.index("get_rank()")
    second = Texts(train=HEAD + "def mark" + text.split("def mark")[1])
    assert changed(second, "get_rank") == ["- dist.barrier()", "+ dist.barrier()"]


def test_what_writes_stays_under_the_test_of_the_rank() -> None:
    files = train(
        """def save(model, path):
    if dist.get_rank() == 0:
        write(path)
        consolidate(model, path)
        write(path)


def consolidate(model, path):
    open(path).close()
    dist.barrier()
"""
    )
    assert "must stay with these ranks" in refused(files, "get_rank") or "involves all ranks" in refused(
        files, "get_rank"
    )


def test_a_role_is_nothing_to_vote_on() -> None:
    files = Texts(
        layout="""
        import torch.distributed as dist


        class Layout:
            def __init__(self, stages):
                self.stage = dist.get_rank() % stages
                self.stages = stages

            @property
            def is_last(self):
                return self.stage == self.stages - 1
        """,
        train="""
        import torch.distributed as dist


        def loss_of(layout, x):
            if layout.is_last:
                return x
            dist.recv(x, src=1)
        """,
    )
    assert "asks which rank" in refused(files, "is_last")


def test_reduce_first_then_decide() -> None:
    files = train(
        """def norm(square, group):
    if square.item() < 10.0:
        return square
    dist.all_reduce(square, dist.ReduceOp.MAX, group=group)
    return square
"""
    )
    assert changed(files, "10.0") == [
        "+ dist.all_reduce(square, dist.ReduceOp.MAX, group=group)",
        "- dist.all_reduce(square, dist.ReduceOp.MAX, group=group)",
    ]


def test_loops_are_made_even() -> None:
    files = train(
        """def fit(loader, settings):
    for batch in loader:
        dist.all_reduce(batch)
    for _ in range(settings.rounds):
        dist.barrier()
"""
    )
    assert changed(files, "in loader")[-1] == "+ for batch in guard.uneven(loader):"
    assert changed(files, "in loader", plain=True)[-1] == "+ for batch in while_all_have(loader):"
    assert changed(files, "in range")[-1] == "+ for _ in range(fewest(settings.rounds)):"


def test_nobody_agrees_on_what_nothing_shows_to_differ() -> None:
    files = train(
        """def fit(loader, settings):
    for batch in loader:
        if settings.often:
            dist.all_reduce(batch)
"""
    )
    for where in ("in loader", "if settings"):
        assert "may fix nothing" in refused(files, where, unexplained=True)
        assert changed(files, where)


def test_a_loop_in_which_all_ranks_still_were_is_not_called_uneven() -> None:
    files = train(
        """def fit(loader):
    for batch in loader:
        dist.all_reduce(batch)
        dist.barrier()
"""
    )
    sites = (
        Site((0,), "all_reduce", "train.py", 6, "fit"),
        Site((1,), "barrier", "train.py", 7, "fit"),
    )
    assert "decision inside" in refused(files, "in loader", sites=sites)


def test_items_are_taken_in_an_order_that_all_have() -> None:
    files = train(
        """def total(values, gradients):
    for name in sorted(values, key=lambda n: values[n].sum()):
        dist.all_reduce(values[name])
    for name in set(values):
        dist.broadcast(values[name], src=0)
    for gradient in sorted(gradients, key=lambda g: g.norm()):
        dist.all_reduce(gradient)
"""
    )
    assert changed(files, "values[n].sum()")[-1] == "+ for name in sorted(values):"
    assert changed(files, "set(values)")[-1] == "+ for name in sorted(set(values)):"
    assert "choose a key" in refused(files, "g.norm()")


def test_a_dictionary_is_gone_through_in_the_order_of_its_keys() -> None:
    files = train(
        """def summary(meters):
    for name, meter in meters.items():
        dist.all_reduce(meter.value)
"""
    )
    assert "order of their keys" in refused(files, "meters.items()", cause="order_inversion")
    assert "order of their keys" not in refused(files, "meters.items()", cause="extra_collective")


def test_both_ways_make_the_calls_in_one_order() -> None:
    files = train(
        """def synchronise(flat, square, layout):
    if layout.even:
        dist.all_reduce(flat, group=layout.dp)
        dist.all_reduce(square, group=layout.tp)
    else:
        dist.all_reduce(square, group=layout.tp)
        dist.all_reduce(flat, group=layout.dp)
"""
    )
    known = {"cause": "order_inversion", "kind": "cycle"}
    patch = patched(problem(files, "layout.even", **known), files)
    assert isinstance(patch, Patch) and "if layout.even" not in patch.after
    assert patch.after.count("all_reduce") == 2


def test_an_exchange_is_posted_on_both_sides_at_once() -> None:
    files = train(
        """def swap(inbox, mine, peer):
    dist.recv(inbox, src=peer)
    dist.send(mine, dst=peer)
"""
    )
    lines = changed(files, "dist.recv", cause="order_inversion", kind="cycle")
    assert "+ dist.P2POp(dist.isend, mine, peer=peer)," in lines
    assert "+ dist.P2POp(dist.irecv, inbox, peer=peer)," in lines


def test_a_call_behind_what_may_fail_leaves_the_try_block() -> None:
    files = train(
        """def resume(point, read):
    try:
        state = read()
        dist.broadcast(point, src=0)
    except ValueError as error:
        print(error)
"""
    )
    assert changed(files, "except", cause="swallowed_exception") == [
        "- dist.broadcast(point, src=0)",
        "+ dist.broadcast(point, src=0)",
    ]


def test_a_call_that_needs_what_failed_does_not() -> None:
    files = train(
        """def resume(read):
    try:
        state = read()
        dist.broadcast(state, src=0)
    except ValueError as error:
        print(error)
"""
    )
    # What is to be done comes first: a card may have room for one sentence.
    first = refused(files, "except", cause="swallowed_exception").partition(". ")[0]
    assert "reduce that flag" in first and "let the exception end the job" in first


def test_no_gradient_is_a_gradient_of_zeros() -> None:
    files = Texts(
        train="""
        import torch
        import torch.distributed as dist


        def reduce(parameters):
            for p in parameters:
                if p.grad is not None:
                    dist.all_reduce(p.grad)
        """
    )
    assert "+ p.grad = torch.zeros_like(p)" in changed(files, "is not None")


def test_a_vote_does_not_run_what_one_rank_has_nothing_for() -> None:
    files = train(
        """def encode(tower, image, out):
    if image is not None:
        out.append(tower(image))
        dist.all_reduce(image)
"""
    )
    assert "empty input" in refused(files, "is not None")


@pytest.mark.parametrize(
    ("asked", "agreed"), [("self.row is not None", False), ('self.source != "late"', True)]
)
def test_what_a_property_asks_is_asked(asked: str, agreed: bool) -> None:
    """`reply.usable` says that there is a row: who has none cannot work on it."""
    files = train(
        f"""class Reply:
    def __init__(self, row, source):
        self.row, self.source = row, source
    @property
    def usable(self):
        return {asked}
def step(model, reply: Reply):
    if not reply.usable:
        return
    out = model.gradient(reply.row)
    dist.all_reduce(out)
"""
    )
    if agreed:
        assert "guard.agree(not reply.usable" in changed(files, "not reply.usable")[-1]
    else:
        assert "reply.row" in refused(files, "not reply.usable")


def test_generation_is_told_to_stay_in_step() -> None:
    files = Texts(
        train="""
        from transformers import AutoModel


        def sample(model, prompt):
            return model.generate(prompt, max_new_tokens=5)
        """
    )
    assert (
        changed(files, "generate")[-1]
        == "+ return model.generate(prompt, max_new_tokens=5, synced_gpus=True)"
    )


@pytest.mark.parametrize("plain", [False, True])
def test_a_patch_keeps_the_form_and_does_not_clash(plain: bool) -> None:
    text = '''#!/usr/bin/env python
"""A trainer."""
import torch , torch.distributed as dist   # odd, but theirs

guard = any_rank = None
def fit( model,loader ) :
    for batch in loader :
        if ( model(batch).item()
             < 0.1 ) :   # stop

            break
        dist.barrier( )
'''
    files = Texts(train=text)
    patch = patched(problem(files, "( model(batch)"), files, plain)
    assert isinstance(patch, Patch)
    ast.parse(patch.after)
    taken = [line for line in patch.diff.split("\n") if line.startswith("-") and not line.startswith("---")]
    assert (
        len(taken) <= 2 and "def fit( model,loader ) :" in patch.after and "# odd, but theirs" in patch.after
    )
    assert "raf_guard.agree(" in patch.after if not plain else "any_rank_agreed(" in patch.after


@pytest.mark.parametrize(
    "text",
    [
        "def broken(:\n",
        "x = " + "(" * 5000,
        "if True: pass",
        "x = 1\n" * 3,
        "\0",
        "if " + "not " * 3000 + "x: pass\n",
    ],
)
def test_a_hostile_source_gets_no_patch_and_no_crash(text: str) -> None:
    class One:
        def paths(self) -> list[str]:
            return ["train.py"]

        def read(self, path: str) -> str:
            return text

    from rankandfile.source.probes import probes
    from rankandfile.source.remedies import Problem

    where = Problem(cause="rank_conditional", file="train.py", line=1)
    patches(where, One())
    probes(where, One())


@pytest.mark.parametrize(
    ("group", "shared"), [(", group=group", "as_first_rank(owner, group)"), ("", "guard.share(owner)")]
)
def test_the_first_rank_names_the_root(group: str, shared: str) -> None:
    files = train(f"def adopt(vector, owner, group):\n    dist.broadcast(vector, src=owner{group})\n")
    site = Site((0, 1), "broadcast", "train.py", 5, "adopt")
    assert f"src={shared}" in changed(files, "def adopt", cause="root_mismatch", sites=(site,))[-1]


def test_a_root_that_more_goes_by_is_shared_where_it_is_made() -> None:
    files = train(
        """def crown(scores, rows):
    winner = best_of(scores)
    dist.gather(scores, rows, dst=winner)
    return winner == 0
"""
    )
    site = Site((0, 1), "gather", "train.py", 6, "crown")
    lines = changed(files, "winner = best_of", cause="root_mismatch", sites=(site,))
    assert lines[-1] == "+ winner = guard.share(best_of(scores))"


@pytest.mark.parametrize(
    ("asked", "instead"),
    [("as_completed(jobs)", "jobs"), ("pool.imap_unordered(work, parts)", "pool.imap(work, parts)")],
)
def test_items_are_taken_in_the_order_in_which_they_were_asked_for(asked: str, instead: str) -> None:
    files = train(
        f"""def settle(pool, parts):
    jobs = [pool.submit(work, part) for part in parts]
    for job in {asked}:
        HANDLERS[kind_of(job)](job)
"""
    )
    lines = changed(files, "for job in", cause="order_inversion")
    assert lines[-1] == f"+ for job in {instead}:"


def test_lists_of_any_length_are_gathered() -> None:
    files = Texts(
        train="""
        import torch
        import torch.distributed as dist


        def collect(mine):
            parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
            dist.all_gather(parts, mine)
            return parts
        """
    )
    sites = (Site((0,), "all_gather", "train.py", 7, "collect"),)
    lines = changed(files, "empty_like", cause="size_mismatch", sites=sites)
    assert lines[-1] == "+ parts = gather_of_any_length(mine)"


def test_every_rank_makes_every_group() -> None:
    files = train(
        """def ring(rank, odd):
    if rank % 2:
        return dist.new_group(odd)
    return dist.new_group([0, 2])


def mine(rank):
    if rank == 1:
        members = sorted(known())
        return dist.new_group(members)
    return None
"""
    )
    assert changed(files, "rank % 2", cause="group_mismatch")[:2] == [
        "+ group_1 = dist.new_group(odd)",
        "+ group_2 = dist.new_group([0, 2])",
    ]
    assert "every rank" in refused(files, "rank == 1", cause="group_mismatch")


def test_a_group_whose_being_there_is_asked_for_is_decided_together() -> None:
    """That all make it would leave those without the client without its use, which the others wait for."""
    files = train(
        """class World:
    def __init__(self, host):
        self.writers = None
        if host.has_client("2.9"):
            self.writers = dist.new_group([0, 1])

    def close(self):
        if self.writers:
            dist.barrier(group=self.writers)
        dist.barrier()


def main(host):
    World(host).close()
"""
    )
    assert changed(files, "has_client", cause="group_mismatch")[1:] == [
        '+ if guard.agree(host.has_client("2.9"), how="any"):'
    ]


@pytest.mark.parametrize("test", ["host.index in members", "host.node == 0"])
def test_a_group_of_its_members_is_made_by_all(test: str) -> None:
    """Who is a member is each rank's own: a vote would send the others the members' way."""
    files = train(
        f"""class World:
    def __init__(self, host, members):
        self.group = None
        if {test}:
            self.group = dist.new_group(members)

    def close(self):
        if self.group is not None:
            dist.barrier(group=self.group)


def main(host, members):
    World(host, members).close()
"""
    )
    assert "+ group_1 = dist.new_group(members)" in changed(files, test, cause="group_mismatch")


def test_one_raises_and_all_raise_and_nothing_waits_in_finally() -> None:
    files = train(
        """def step(loss):
    if loss != loss:
        raise ValueError("not a number")
    dist.all_reduce(loss)


def main(loss):
    try:
        step(loss)
    finally:
        dist.barrier()
        dist.destroy_process_group()
"""
    )
    where = problem(files, "loss != loss", cause="raised")
    first, second, third = patches(where, files)
    assert isinstance(first, Patch) and 'guard.agree(loss != loss, how="any")' in first.after
    assert isinstance(second, Patch) and "finally" not in second.after
    assert second.after.rstrip().endswith(
        "    step(loss)\n    dist.barrier()\n    dist.destroy_process_group()"
    )
    assert isinstance(third, Patch) and "fixes no hang" in third.decide
    assert third.after.rstrip().endswith(
        "    try:\n        step(loss)\n    except BaseException:\n        dump_flight_recorder()\n        raise\n"
        "    finally:\n        dist.barrier()\n        dist.destroy_process_group()"
    )


@pytest.mark.torch
def test_the_record_that_is_kept_before_the_tear_down_is_one_that_is_read(tmp_path: Path) -> None:
    """The patched program runs, alone: it fails as before, and leaves its dump."""
    files = train(
        """import torch


def step(loss):
    dist.all_reduce(loss)
    if loss > 0:
        raise ValueError("too much")


def main(loss):
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        step(loss)
    finally:
        dist.destroy_process_group()


main(torch.ones(1))
"""
    )
    where = problem(files, "if loss > 0:", cause="raised")
    (patch,) = [
        p for p in patches(where, files) if isinstance(p, Patch) and p.pattern == "dump_before_tear_down"
    ]
    (tmp_path / "train.py").write_text(patch.after)
    env = {**os.environ, "TORCH_FR_DUMP_TEMP_FILE": str(tmp_path / "rank_"), "TORCH_FR_BUFFER_SIZE": "100"}
    env |= {"TORCH_NCCL_TRACE_BUFFER_SIZE": "100"}
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert "ValueError: too much" in done.stderr, done.stderr
    assert decode(tmp_path / "rank_0", "rank_0").dumps[0].calls == 1


def test_solo_work_has_its_own_time() -> None:
    files = train(
        """def prepare(build):
    if dist.get_rank() == 0:
        # takes an hour
        build()
    dist.barrier()
"""
    )
    lines = changed(files, "get_rank", cause="too_short_timeout")
    assert "+ with guard.solo(timeout=7200) as mine:" in lines and "+ build()" in lines
    plain = changed(files, "get_rank", cause="too_short_timeout", plain=True)
    assert plain[-1] == "+ wait_for_solo_work(7200)"


def test_what_is_left_of_a_test_keeps_its_meaning() -> None:
    files = train(
        """def fit(step, late, forced):
    if dist.get_rank() == 0 and (late or forced) and step % 2 == 0:
        save(step)


def save(step):
    if dist.get_rank() == 0:
        print(step)
    dist.barrier()
"""
    )
    assert changed(files, "late or forced")[-1] == "+ if (late or forced) and (step % 2 == 0):"


def test_where_a_part_of_the_test_makes_the_calls_what_stands_before_it_is_agreed_on() -> None:
    files = train(
        """def enough(loss):
    dist.all_reduce(loss)
    return loss.item() < 0.1


def fit(model, loader, seen):
    for batch in loader:
        loss = model(batch)
        loss.backward()
        seen += len(batch)
        if seen > 99 and enough(loss):  # good enough
            break


def keep(model, loader, seen):
    for batch in loader:
        loss = model(batch)
        loss.backward()
        seen += len(batch)
        if seen < 9 or enough(loss):  # go on
            continue
        break
"""
    )
    assert changed(files, "good enough") == [
        "- if seen > 99 and enough(loss):  # good enough",
        '+ if guard.agree(seen > 99, how="any") and enough(loss):  # good enough',
    ]
    assert changed(files, "go on")[-1] == '+ if guard.agree(seen < 9, how="all") or enough(loss):  # go on'


def test_no_vote_sends_a_rank_on_with_none() -> None:
    files = train(
        """def restore(model, vault):
    step = vault.newest()
    if step is None:  # no checkpoint
        return 0
    vault.load(model, step)
    dist.barrier()
    return step
"""
    )
    assert "has nothing for `vault.load(model, step)`" in refused(files, "no checkpoint")


def test_a_tensor_that_is_made_from_nothing_hangs_on_the_input() -> None:
    files = Texts(
        train="""import torch.distributed as dist


class Expert:
    def forward(self, x):
        if x.shape[0] == 0:  # nothing came
            return x.new_zeros(0, 4)
        return self.net(x)
"""
    )
    assert changed(files, "nothing came") == [
        "- return x.new_zeros(0, 4)",
        "+ return x.new_zeros(0, 4) + 0.0 * x.sum()",
    ]


def test_where_the_other_way_makes_a_collective_a_graph_helps_nobody() -> None:
    files = Texts(
        train="""import torch.distributed as dist


class Expert:
    def forward(self, x):
        if x.shape[0] == 0:  # nothing came
            return x.new_zeros(0, 4)
        dist.all_reduce(x)
        return x
"""
    )
    found = patches(problem(files, "nothing came"), files)
    assert "keep_the_graph" not in [one.pattern for one in found]
