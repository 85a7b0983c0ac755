"""A job of a thousand ranks: the answers are of its cohorts, and fit where those of a small one do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.places import ROOT

from rankandfile.agent.bench import bench_of
from rankandfile.agent.claims import check
from rankandfile.agent.playbook import draft, investigate
from rankandfile.agent.registry import TOOLS, call
from rankandfile.agent.result import LONGEST_LINE, PAGE_CHARACTERS
from rankandfile.pipeline import Options

GENERATE = ROOT / "benchmarks" / "generate.py"
#: What a page and a context window hold with ease, whatever the size of the job.
MOST_CHARACTERS = 24_000


@pytest.mark.lab
def test_what_is_said_of_1024_ranks_is_bounded(tmp_path: Path) -> None:
    dumps = tmp_path / "dumps"
    command = [sys.executable, str(GENERATE), "--ranks", "1024", "--calls", "32", "--out", str(dumps)]
    subprocess.run(command, check=True, capture_output=True)
    bench = bench_of([dumps], Options())
    assert bench.culprits == {3} and len(bench.case.ranks_seen) == 1024
    found = investigate(bench)
    assert check(found.document, bench, found.journal.results) == []
    assert len(found.document) < MOST_CHARACTERS
    assert len(draft(bench).document.markdown()) < MOST_CHARACTERS
    assert sum(len(one.text) for one in found.journal.results.values()) < 4 * MOST_CHARACTERS
    # Whatever a model asks of it, too: an answer is one page, and says how to ask for the next.
    for tool in TOOLS.values():
        if not tool.schema().get("required"):
            page = call(bench, tool.name, {}).result
            assert len(page.text) <= PAGE_CHARACTERS + LONGEST_LINE, tool.name
