"""The Python API: its page, its names, and what it shows in a notebook."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.cli.raf_runs import Raf
from support.places import DOCS, EARLY_STOP, ROOT

import rankandfile
from rankandfile.model import diagnosis as document
from rankandfile.model.diagnosis import to_json
from rankandfile.pipeline import Options, run

pytestmark = pytest.mark.slow

EVIDENCE, SOURCE = EARLY_STOP / "evidence", EARLY_STOP / "src"
HOSTILE = "</style></div><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def found() -> rankandfile.Diagnosis:
    return rankandfile.diagnose(EVIDENCE, src=SOURCE, jobs=1)


def test_the_page_of_the_api_says_what_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = (DOCS / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    page = doctest.DocTestParser().get_doctest("".join(blocks), {}, "python.md", "docs/python.md", 0)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(page, out=said.append)
    assert not said, "".join(said)
    assert len(blocks) >= 4


def test_importing_the_package_loads_nothing() -> None:
    """It is imported by training jobs, too."""
    script = """
import sys
before = set(sys.modules)
import rankandfile
print(sorted(set(sys.modules) - before))
rankandfile.__version__
try:
    rankandfile.nothing
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['rankandfile']", "module 'rankandfile' has no attribute 'nothing'"]


def test_the_diagnosis_is_the_documents(found: rankandfile.Diagnosis) -> None:
    plain = run([EVIDENCE], Options(sources=(SOURCE,), jobs=1)).diagnosis
    assert found.to_json() == to_json(found) == to_json(plain)
    assert isinstance(found, document.Diagnosis)
    assert rankandfile.Diagnosis.__struct_fields__ == document.Diagnosis.__struct_fields__


def test_it_prints_as_the_command_does(
    found: rankandfile.Diagnosis, raf: Raf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankandfile.cli.console.out.width", 100, raising=False)
    monkeypatch.chdir(EVIDENCE.parent)
    printed = raf("diagnose", EVIDENCE.name, "--src", SOURCE.name).out.splitlines()
    # Who has the diagnosis in a program may have had it from anywhere: there is no command line to go on from. Commands
    # with real paths take lines of their own, for which a last row may have to go.
    typed = [line for line in printed if "raf " in line]
    plain = [line for line in printed if line not in typed]
    assert all(line in str(found) for line in plain) and len(plain) > 10
    assert len(typed) > 1 and "raf show evidence PATH..." in str(found)


def test_ranks_that_are_not_proved_to_be_culprits_are_suspects(found: rankandfile.Diagnosis) -> None:
    (verdict,) = found.verdicts
    unsure = msgspec.structs.replace(
        found,
        verdicts=[
            msgspec.structs.replace(
                verdict, confidence="hypothesis", culprits=[], suspects=verdict.culprits, alternatives=[]
            )
        ],
    )
    assert (found.culprits, found.suspects) == ((2,), ())
    assert (unsure.culprits, unsure.suspects) == ((), (2,))


def test_a_case_that_is_loaded_once_can_be_asked_again(found: rankandfile.Diagnosis) -> None:
    case = rankandfile.load([EVIDENCE], jobs=1)
    assert rankandfile.diagnose(case, src=[str(SOURCE)]).to_json() == found.to_json()
    with pytest.raises(rankandfile.UserError, match="when a case is loaded"):
        rankandfile.diagnose(case, attempt=1)


class Parsed(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_what_a_notebook_shows_stands_alone(found: rankandfile.Diagnosis) -> None:
    shown = found._repr_html_()
    parsed = Parsed(shown)
    assert not parsed.open
    assert not parsed.tags & {"script", "a", "button", "h1", "h2", "h3", "h4", "html", "body", "link", "img"}
    assert parsed.attributes <= {
        "class",
        "title",
        "scope",
        "open",
        "role",
        "aria-level",
        "aria-label",
        "aria-hidden",
    }
    css = shown.partition("<style>")[2].partition("</style>")[0]
    selectors = [one.strip() for rule in re.findall(r"(?m)^([^\s}][^{]*)\{", css) for one in rule.split(",")]
    assert len(selectors) > 50
    assert all(re.match(r"\.raf-diagnosis(?![\w-])", one) for one in selectors)
    assert "url(" not in css and "@import" not in css
    assert "Rank 2 is in the barrier" in shown and "Decide together" in shown


def test_text_of_evidence_stays_text_in_a_notebook(found: rankandfile.Diagnosis) -> None:
    (verdict,) = found.verdicts
    evidence = [msgspec.structs.replace(one, quote="\"'" + HOSTILE) for one in found.evidence]
    replaced = msgspec.structs.replace(verdict, sentence=HOSTILE)
    parsed = Parsed(msgspec.structs.replace(found, verdicts=[replaced], evidence=evidence)._repr_html_())
    assert not parsed.tags & {"script", "img"} and not parsed.open


def test_it_leaves_a_notebook_as_it_was(found: rankandfile.Diagnosis, browser: Any, tmp_path: Path) -> None:
    around = (
        '<style>body { color: rgb(1, 2, 3) }</style><h1 class="sentence">Mine</h1><p class="card">Mine</p>'
    )
    style = "(one) => [...getComputedStyle(one)].map((key) => key + getComputedStyle(one)[key]).join()"
    tab = browser.new_page()
    try:
        told: list[list[str]] = []
        for output in ("", found._repr_html_() * 2):
            tab.set_content(f"<!doctype html><body>{around}{output}</body>")
            told.append([tab.eval_on_selector(one, style) for one in ("body > h1", "body > p")])
        assert told[0] == told[1]
        cards = tab.query_selector_all(".raf-diagnosis .card")
        assert len(cards) == 2
        assert cards[0].evaluate("(one) => getComputedStyle(one).borderLeftWidth") == "6px"
        assert "HANG: rank 2 left early" in cards[1].inner_text()
        tab.screenshot(path=str(tmp_path / "notebook.png"), full_page=True)
    finally:
        tab.close()


@pytest.mark.parametrize("wrong", [{"attempt": 0}, {"attempt": -3}, {"jobs": 0}])
def test_numbers_that_count_nothing_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(rankandfile.UserError, match="counted from 1"):
        rankandfile.diagnose(EVIDENCE, **wrong)  # type: ignore[arg-type]
    with pytest.raises(rankandfile.UserError, match="counted from 1"):
        rankandfile.load(EVIDENCE, **wrong)


def test_an_engine_that_is_none_is_refused_before_anything_is_read() -> None:
    for ask in (rankandfile.load, rankandfile.diagnose):
        with pytest.raises(rankandfile.UserError, match="it is ray, or ray://HOST:PORT"):
            ask("/nowhere", engine="spark")
