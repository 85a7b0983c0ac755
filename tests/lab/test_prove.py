"""Patches hold: put into the source of a hang, the remedy makes a fresh real run finish, and the probe makes it fail
at once, naming the odd ranks and the decision. `raf lab prove --all` does this for every scenario."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from rankandfile.cli.main import main
from rankandfile.lab import catalog, prove
from rankandfile.lab.prove import Proof
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.remedies import Patch, Problem

pytestmark = [pytest.mark.lab, pytest.mark.torch]

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


@pytest.fixture(scope="module")
def proofs() -> Iterator[Callable[[str, bool], list[Proof]]]:
    """Two at a time: a run mostly waits. Where tests share the machine already, each runs when it is asked for."""
    pool = ThreadPoolExecutor(1 if "PYTEST_XDIST_WORKER" in os.environ else 2)
    running: dict[tuple[str, bool], Future[list[Proof]]] = {}

    def of(name: str, plain: bool) -> list[Proof]:
        ahead = [(name, plain)] if "PYTEST_XDIST_WORKER" in os.environ else PROVED
        for key in ahead:
            if key not in running:
                running[key] = pool.submit(prove.prove, catalog.get(key[0]), plain=key[1])
        return running[name, plain].result()

    yield of
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(("name", "plain"), PROVED)
def test_the_remedy_mends_and_the_probe_names(
    proofs: Callable[[str, bool], list[Proof]], name: str, plain: bool
) -> None:
    remedy, probe = proofs(name, plain)
    assert remedy.held, f"{remedy.title}: {remedy.words}\n{remedy.diff}"
    assert probe.held, f"{probe.title}: {probe.words}\n{probe.diff}"
    assert not plain or "rankandfile" not in remedy.diff + probe.diff


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
