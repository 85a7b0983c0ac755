"""What is untrue in any output of one incident, asked in one form of evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from rankandfile.agent.bench import bench_of
from rankandfile.lab import truth
from rankandfile.pipeline import Options

from .code import Sources, untrue_of_leaving
from .held import Witness, untrue
from .outputs import OUTPUTS, said, told_of_code
from .statement import Spoken
from .witnesses import of_log, of_tables

_OF_ABSENCE = ("never", "left out", "skipped")


class Form(NamedTuple):
    name: str
    parts: tuple[str, ...]
    """Folders of the evidence; none: all of it."""
    source: bool = False
    hung: bool = False


FORMS = (
    Form("all evidence and sources", (), source=True),
    Form("dumps", ("dumps",)),
    Form("logs and stacks", ("logs", "stacks"), source=True, hung=True),
)


def faults(incident: Path, form: Form, outputs: Collection[str] = OUTPUTS) -> list[str]:
    """`incident`: a folder of the lab, with its truth and its log of calls."""
    evidence = incident / "evidence"
    paths = [path for part in form.parts if (path := evidence / part).exists()] if form.parts else [evidence]
    src = incident / "src"
    if not paths:
        return []
    sources = (src,) if form.source and src.exists() else ()
    bench = bench_of(paths, Options(sources=sources, hung=form.hung, jobs=1))
    witnesses = [of_tables(incident, bench.case)]
    log = incident / "calls.jsonl"
    if log.exists():
        witnesses.append(of_log(incident, bench.case))
    hangs = _hangs(incident)
    statements = list(said(bench, outputs))
    found = {f"{output}: {fault}" for output, one in statements for fault in _of(one, witnesses, hangs)}
    # Whether it has left a loop is in the program, also where the analyser was not given it.
    code = Sources.below(src) if src.exists() else Sources({})
    found |= {
        f"{output}: {fault}"
        for output, one in statements
        if one.kind == "left the loop"
        for fault in untrue_of_leaving(one, witnesses[0], code)
    }
    if sources:
        found |= {f"code: {fault}" for fault in told_of_code(bench, Sources.below(src))}
    return sorted(found)


def _of(one: Spoken, witnesses: list[Witness], hangs: bool) -> Iterator[str]:
    for witness in witnesses:
        # Of a job that went on, the log of calls tells also what came after the dumps were written.
        if hangs or witness is witnesses[0] or one.kind not in _OF_ABSENCE:
            yield from untrue(one, witness)


def _hangs(incident: Path) -> bool:
    return not (incident / "truth.toml").exists() or truth.read(incident).hang
