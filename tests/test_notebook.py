"""In a real notebook: the answer of the Python API is shown as the page shows it, and as the card where no HTML is."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from support.places import EARLY_STOP

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    """What the last line of a cell shows, by kind."""
    pytest.importorskip("ipykernel")
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    manager = pytest.importorskip("jupyter_client.manager").KernelManager()
    manager.kernel_spec.argv[0] = sys.executable
    cell = f"import rankandfile\nrankandfile.diagnose({str(EARLY_STOP / 'evidence')!r})"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbclient.NotebookClient(notebook, km=manager, timeout=120).execute()
    (output,) = notebook.cells[0].outputs
    found: dict[str, Any] = output["data"]
    return found


def test_the_verdict_is_shown_without_a_script_or_a_style_that_reaches_out(shown: dict[str, Any]) -> None:
    page = shown["text/html"]
    assert "Rank 2" in page and "trainer.py" in page
    assert not re.search(r"<script|<link|<iframe|javascript:|\son\w+=", page)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)
    assert style is not None
    selectors = [one for rule in re.findall(r"([^{}]+)\{", style[1]) for one in rule.split(",")]
    assert all(".raf-diagnosis" in one or one.strip().startswith(("@", "from", "to")) for one in selectors), (
        selectors
    )


def test_where_no_html_is_shown_one_line_says_it(shown: dict[str, Any]) -> None:
    assert shown["text/plain"].startswith("<Diagnosis: early_exit; culprits [2]")
