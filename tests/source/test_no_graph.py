"""A collective of a backward pass that one rank lacks: the line upon which its loss came from nothing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from support.source.toy_runs import (
    Run,
    case_of,
    cohort,
    diagnosis_of,
    locate,
    place,
    play,
    remarked,
    tree,
    verdict_of,
)

from rankandfile.model.diagnosis import Divergence, Verdict

PROGRAM = """
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows):
        dist.broadcast(None, 0)
        return rows

    @staticmethod
    def backward(ctx, grad):
        dist.all_reduce(grad)
        return grad


class Expert:
    def __call__(self, rows):
        return self.forward(rows)

    def forward(self, rows):
        {inside}
        return rows


class Head:
    def forward(self, rows):
        if self is None:
            return rows.new_zeros(0)
        return rows


class Layer:
    def __init__(self):
        self.expert, self.head = Expert(), Head()

    def forward(self, rows):
        rows = Exchange.apply(rows)
        rows = self.expert.forward(rows)
        {after}
        return self.head.forward(rows)


def shares(rank):
    return [torch.ones(0 if step == 3 and rank == 1 else 4) for step in range(6)]


def main():
    layer = Layer()
    for rows in DataLoader(shares(dist.get_rank())):
        loss = layer.forward(rows)
        loss.backward()
        dist.barrier()
"""


def _indented(lines: str) -> str:
    return lines.replace("\n", "\n        ")


def parted(
    inside: str = "pass", after: str = "pass", culprit: int = 1
) -> tuple[Verdict, tuple[str, int] | None]:
    run = play(3, train=PROGRAM.format(inside=_indented(inside), after=_indented(after)))
    found = locate(case_of(run), diagnosis_of(verdict_of(run, culprit)), tree(run.files)).verdicts[0]
    return found, run.marked if "# <-" in inside + after else None


@pytest.mark.parametrize(
    "ways",
    [
        {"inside": "if rows.shape[0] == 0:  # <-\n    return rows.new_zeros(0)"},
        {"after": "if rows.shape[0] == 0:  # <-\n    rows = rows.new_zeros(0)"},
        {"after": "rows = rows if rows.shape[0] else rows.new_zeros(0)  # <-"},
        {"after": "out = rows.new_zeros(0)\nif rows.shape[0]:  # <-\n    out = rows\nrows = out"},
        {
            "inside": "if rows.shape[0] == 0:  # <-\n    return rows.new_zeros(0)\nout = rows.new_zeros(0)\n"
            "for part in (0, 1):\n    if rows.shape[0] > part:\n        out = rows\nrows = out"
        },
    ],
    ids=["returned early", "set anew", "one of two", "left as it was", "before a loop"],
)
def test_the_test_upon_which_a_tensor_is_made_from_nothing_is_the_line(ways: dict[str, str]) -> None:
    verdict, marked = parted(**ways)
    assert place(verdict.location) == marked and marked is not None
    assert "is made in a backward pass" in verdict.sentence and "rows.new_zeros(0)" in verdict.sentence


def test_a_way_on_which_the_forward_pass_would_have_lacked_calls_as_well_is_not_the_line() -> None:
    """The rank made all calls of the forward pass, and so came by where they are made."""
    inside = "if rows.shape[0] == 0:\n    return rows.new_zeros(0)\ndist.broadcast(rows, 0)"
    run = play(3, train=PROGRAM.format(inside=_indented(inside), after="pass"))
    # As if rank 1 had made that call too: what its backward pass lacks, it lacks for another reason.
    assert run.calls[1] != run.calls[0]
    at = next(n for n, (a, b) in enumerate(zip(run.calls[0], run.calls[1], strict=False)) if a != b)
    run.calls[1].insert(at, run.calls[0][at])
    verdict = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    assert "backward pass" not in verdict.sentence
    assert verdict.location is None or verdict.location.condition != "if rows.shape[0] == 0:"


def test_where_its_backward_pass_is_in_the_call_of_another_layer_the_same_test_is_the_line() -> None:
    inside = "if rows.shape[0] == 0:  # <-\n    return rows.new_zeros(0)"
    run = play(3, train=PROGRAM.format(inside=_indented(inside), after="pass"))
    at = next(n for n, (a, b) in enumerate(zip(run.calls[0], run.calls[1], strict=False)) if a != b)
    run.calls[1].insert(at, run.calls[0][at])
    both = [cohort([0, 2], 0, run.calls[0], at), cohort([1], 1, run.calls[1], at)]
    parted = Divergence(group="0", seq=at + 1, kind="argument", cohorts=both)
    asked = replace(verdict_of(run, 1), divergence=parted)
    verdict = locate(case_of(run), diagnosis_of(asked), tree(run.files)).verdicts[0]
    assert place(verdict.location) == run.marked
    assert "is made in a backward pass" in verdict.sentence


TRAINER = """
import torch
from transformers import Trainer


class Ours(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        kept = {key: value[inputs["labels"] > 0] for key, value in inputs.items()}
        if not len(kept["labels"]):  # <-
            loss = kept["labels"].new_zeros(()).requires_grad_()
            return (loss, {}) if return_outputs else loss
        outputs = model(**kept)
        loss = outputs.logits.mean()
        return (loss, outputs) if return_outputs else loss

    def evaluated(self, rows):
        if not len(rows):
            return rows.new_zeros(())
        return rows.mean()
"""
LIBRARIES = "/usr/lib/python3/site-packages/"
BACKWARD = (
    ("backward", f"{LIBRARIES}accelerate/accelerator.py", 2861),
    ("train", f"{LIBRARIES}transformers/trainer.py", 1909),
)
COUNTS = (
    ("gather", f"{LIBRARIES}accelerate/accelerator.py", 3107),
    ("train", f"{LIBRARIES}transformers/trainer.py", 1873),
)


@pytest.mark.parametrize(
    ("by", "found"), [(BACKWARD, True), (BACKWARD[1:], False)], ids=["backward", "elsewhere"]
)
def test_a_framework_goes_backward_from_the_loss_that_the_program_gives_it(
    by: tuple[tuple[str, str, int], ...], found: bool
) -> None:
    """The gradients are reduced by the wrapper around the model: no line of the program makes the call."""
    step = [("all_gather", COUNTS), ("all_reduce", by)]
    run = Run({"ours.py": TRAINER.lstrip("\n")}, {0: step * 3, 1: [*step * 2, step[0], step[0]], 2: step * 3})
    verdict = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    at = place(verdict.location)
    assert (at == ("ours.py", remarked(run.files["ours.py"], "<-"))) is found
    assert ("is made in a backward pass" in verdict.sentence) is found


@pytest.mark.parametrize(
    ("noted", "part_of_it"),
    [
        ("self.note(spread(inputs))", False),
        ("wide = spread(inputs); self.note(wide)", False),
        ("loss = loss + spread(inputs)", True),
        ("parts = [loss]; parts.append(spread(inputs)); loss = torch.stack(parts).sum()", True),
        ("self.wide = inputs.std() if len(inputs) else inputs.new_zeros(())", False),
    ],
)
def test_what_is_counted_beside_the_loss_has_no_part_in_its_graph(noted: str, part_of_it: bool) -> None:
    program = f"""import torch
from transformers import Trainer


class Ours(Trainer):
    def compute_loss(self, model, inputs):
        loss = model(inputs).mean()
        {noted}
        return loss


def spread(rows):
    if not len(rows):
        return rows.new_zeros(())
    return rows.std()
"""
    step = [("all_gather", COUNTS), ("all_reduce", BACKWARD)]
    run = Run({"ours.py": program}, {0: step * 3, 1: [*step * 2, step[0], step[0]], 2: step * 3})
    verdict = locate(case_of(run), diagnosis_of(verdict_of(run, 1)), tree(run.files)).verdicts[0]
    assert ("is made in a backward pass" in verdict.sentence) is part_of_it
