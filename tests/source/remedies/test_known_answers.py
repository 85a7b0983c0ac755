"""No patch sends a rank into what it has nothing for, asks for a vote where not all come, or mends one use of two."""

from __future__ import annotations

import pytest
from support.source.remedy_cases import Texts, changed, refused

pytestmark = pytest.mark.slow

HEAD = "import os\nimport torch\nimport torch.distributed as dist\nfrom pathlib import Path\n\n\n"


def train(body: str) -> Texts:
    return Texts(train=HEAD + body)


@pytest.mark.parametrize(
    ("test", "use"),
    [
        ("os.path.exists(path)", "torch.load(path)"),
        ("Path(path).is_file()", "Path(path).read_bytes()"),
        ("rows", "torch.cat(rows)"),
        ("len(rows) > 0", "rows[0]"),
        ("rows.numel()", "rows.max()"),
        ("'loss' in rows", "rows['loss']"),
    ],
)
def test_a_branch_that_needs_what_its_test_found_is_taken_where_all_can(test: str, use: str) -> None:
    files = train(
        f"""def resume(path, rows):
    if {test}:  # there
        mine = {use}
        dist.all_reduce(mine)
        return mine
    return None
"""
    )
    assert changed(files, "# there")[-1] == f'+ if guard.agree({test}, how="all"):  # there'


@pytest.mark.parametrize(
    "use",
    [
        *("torch.cat(rows)", "torch.stack(rows).sum()", "rows[0]", "max(rows)"),
        # An empty list has no integers: what follows looks rows up by them.
        "self.embed(torch.tensor(rows))",
        *("torch.stack(list(rows.values()))", "torch.cat([row.float() for row in rows])", "max(*rows)"),
    ],
)
def test_where_neither_way_is_safe_there_is_no_patch(use: str) -> None:
    files = train(
        f"""def merge(rows):
    if not rows:  # nothing
        return 0.0
    mine = {use}
    dist.all_reduce(mine)
    return mine
"""
    )
    assert "has nothing for" in refused(files, "# nothing")


@pytest.mark.parametrize(
    "total",
    [
        "torch.tensor([float(len(rows))])",
        "torch.tensor(max(rows, default=0))",
        "torch.tensor(next(iter(rows), 0))",
        "torch.tensor(max(0, 1, *rows))",
        "functools.reduce(add, map(float, rows), torch.zeros(1))",
    ],
)
def test_what_goes_well_with_nothing_is_no_reason_to_refuse(total: str) -> None:
    files = train(
        f"""def merge(rows):
    if not rows:  # nothing
        return 0.0
    total = {total}
    dist.all_reduce(total)
    return total
"""
    )
    assert 'how="all"' in changed(files, "# nothing")[-1]


def test_work_that_is_left_is_not_thrown_away() -> None:
    files = train(
        """def drain(jobs):
    while jobs:  # left
        mine = torch.tensor([float(jobs.pop())])
        dist.all_reduce(mine)
"""
    )
    assert "others' work left over" in refused(files, "# left")


def test_an_answer_that_is_asked_twice_is_mended_where_it_is_made() -> None:
    files = train(
        """def step(loss, weight):
    odd = loss.item() > 5.0
    if not odd:  # first
        dist.all_reduce(weight)
    total = loss.clone()
    if not odd:
        dist.all_reduce(total)
"""
    )
    assert changed(files, "# first") == [
        "- odd = loss.item() > 5.0",
        '+ odd = guard.agree(loss.item() > 5.0, how="all")',
    ]


def test_an_attribute_that_is_asked_twice_is_mended_twice() -> None:
    files = train(
        """class Fit:
    def run(self, weight):
        while not self.stop:  # first
            dist.all_reduce(weight)
        if not self.stop:
            dist.barrier()
"""
    )
    assert changed(files, "# first") == [
        "- while not self.stop:  # first",
        '+ while not guard.agree(self.stop, how="any"):  # first',
        "- if not self.stop:",
        '+ if not guard.agree(self.stop, how="any"):',
    ]


def test_an_answer_that_decides_in_another_function_too_is_not_mended_in_one() -> None:
    files = train(
        """class Fit:
    def epoch(self, weight):
        if self.stop:  # first
            return
        dist.all_reduce(weight)

    def finish(self, weight):
        if self.stop:
            dist.barrier()
"""
    )
    assert "decides again at train.py:" in refused(files, "# first")


def test_nobody_is_asked_to_vote_where_not_all_come() -> None:
    files = train(
        """class Layout:
    def __init__(self):
        self.head = dist.get_rank() % 2 == 0

    def leads(self):
        return self.head


def report(layout, weight):
    if layout.leads():
        write(weight)


def write(weight):
    if weight.norm().item() > 3.0:  # busy
        dist.all_reduce(weight)


def main():
    report(Layout(), torch.ones(2))
"""
    )
    assert "would not answer a vote" in refused(files, "# busy", world=4)


def test_a_test_of_the_rank_is_seen_through_names() -> None:
    files = train(
        """FIRST = int(os.environ.get("LOCAL_RANK", 0)) == 0


def save(weight):
    if FIRST:  # asks
        weight = weight * 2
        return dist.all_reduce(weight)
    return None
"""
    )
    assert "asks which rank this is" in refused(files, "# asks", world=4)


@pytest.mark.parametrize("asked", ["not torch.isfinite(score).all()", "spoilt(score)"])
def test_what_a_rank_keeps_out_of_a_sum_no_patch_puts_in(asked: str) -> None:
    """All leave the round out as soon as one has to; of rows that a rank has none of, it can take part with none."""
    body = f"""def spoilt(values):
    return bool((values > 9).any())


def merge(rows, weight):
    score = rows * weight
    if {asked}:  # skip
        return None
    share = score / 2
    dist.all_reduce(share)
    return share
"""
    assert changed(train(body), "# skip")[-1].endswith(f'guard.agree({asked}, how="any"):  # skip')
    empty = body.replace(asked, "not len(rows)")
    assert changed(train(empty), "# skip")[-1].endswith('how="all"):  # skip')
    inside = """def merge(rows, weight):
    score = rows * weight
    fine = torch.isfinite(score).all()
    if fine:  # there
        dist.all_reduce(score)
    return score
"""
    assert 'how="all"' in changed(train(inside), "# there")[-1]


@pytest.mark.parametrize("behind", [False, True])
def test_who_comes_by_before_the_job_is_set_up_is_nobody_that_is_waited_for(behind: bool) -> None:
    alone = 'if os.environ["RANK"] == "0":\n        table("a")'
    setup = 'dist.init_process_group("gloo")'
    files = train(
        f"""def kept(fn):
    def inner(key):
        if Path(key).exists():  # there
            return 1
        return fn(key)
    return inner


@kept
def table(key):
    dist.all_reduce(torch.ones(1))
    return 2


def main():
    {setup if behind else alone}
    {alone if behind else setup}
    table("b")
"""
    )
    if behind:
        assert "keeps some away" in refused(files, "# there", world=2)
    else:
        assert changed(files, "# there", world=2)[-1].startswith("+ if guard.agree(")
