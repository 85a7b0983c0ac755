"""Patches hold: put into the source of a hang, the remedy makes a fresh real run finish, and the probe makes it fail
at once, naming the odd ranks and the decision. `raf lab prove --all` does this for every scenario."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec
import pytest

from rankandfile.cli.main import main
from rankandfile.lab import catalog, prove
from rankandfile.lab.run import lacking
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.remedies import Patch, Problem

pytestmark = [pytest.mark.slow, pytest.mark.torch]

#: One or more of each pattern, of few ranks and few steps; the last two in plain torch.
PROVED = [
    ("batch_error_swallowed", False),
    ("both_receive_first", False),
    ("early_stop_local", False),
    ("errors_gathered_if_any", False),
    ("expert_without_tokens", False),
    ("export_on_rank_zero", False),
    ("load_error_hidden", False),
    ("nan_batch_skipped", False),
    ("order_inversion_dp_tp", False),
    ("other_reduction_for_short_lists", False),
    ("report_returns_early", False),
    ("statistics_from_a_set", False),
    ("text_only_batch", False),
    ("uneven_shards", True),
    ("load_report_after_resume", True),
]
#: The quickest of them.
HERE = ("errors_gathered_if_any",)


@pytest.mark.parametrize(
    ("name", "plain"),
    [pytest.param(*one, marks=() if one[0] in HERE else pytest.mark.lab) for one in PROVED],
)
def test_the_remedy_mends_and_the_probe_names(name: str, plain: bool) -> None:
    remedy, probe = prove.prove(catalog.get(name), plain=plain)
    assert remedy.held, f"{remedy.title}: {remedy.words}\n{remedy.diff}"
    assert probe.held, f"{probe.title}: {probe.words}\n{probe.diff}"
    assert not plain or "rankandfile" not in remedy.diff + probe.diff


@pytest.mark.lab
@pytest.mark.parametrize("name", sorted(scenario.name for scenario in catalog.scenarios() if scenario.hang))
def test_every_patch_that_is_offered_mends(name: str) -> None:
    """Of whatever hang: it is made afresh and diagnosed; if a patch comes with the verdict, the job runs with it."""
    scenario = catalog.get(name)
    if lacking(scenario):
        pytest.skip("this machine cannot run it")
    (remedy,) = prove.prove(scenario, ("remedy",), origin="diagnosis")
    assert remedy.held or not remedy.diff, f"{remedy.title}: {remedy.words}\n{remedy.diff}"


@pytest.mark.lab
def test_what_does_not_hold_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that mends nothing leaves the job stuck, and a line that names other ranks names the wrong ones."""
    monkeypatch.setattr(prove, "_STALL_S", 4.0)
    scenario = msgspec.structs.replace(catalog.get("errors_gathered_if_any"), culprits=(1,))

    def idle(problem: Problem, tree: SourceTree, plain: bool) -> Patch:
        text = tree.read(problem.file) or ""
        return Patch("idle", "Change nothing", "", problem.file, text, f"{text}# no more\n")

    monkeypatch.setattr(prove, "patched", idle)
    remedy, probe = prove.prove(scenario, attempts=1)
    assert not remedy.held and "stuck" in remedy.words
    assert not probe.held and "not named" in probe.words


@pytest.mark.lab
def test_the_command_proves_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    out, page = tmp_path / "proofs.json", tmp_path / "page.md"
    page.write_text("before\n<!-- proofs: begin -->\nlast year\n<!-- proofs: end -->\nafter\n")
    words = ["raf", "lab", "prove", "leaves_when_converged", "--stated", "--remedies", "--output", str(out)]
    words += ["--markdown", str(page)]
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None) and "1 of 1 hold" in capfd.readouterr().out
    (proof,) = json.loads(out.read_text())
    assert (
        proof["held"] and proof["scenario"] == "leaves_when_converged" and proof["diff"].startswith("--- a/")
    )
    text = page.read_text()
    assert (
        "1 of 1 patches hold" in text and "| `leaves_when_converged` | `reduce_decision` | finished," in text
    )
    assert text.startswith("before") and text.endswith("after\n") and "last year" not in text
