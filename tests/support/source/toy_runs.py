"""Toy programs that are really run, one rank after the other, under a `torch.distributed` that only takes notes.

What a rank called, and from where, becomes a case, with a verdict as the dumps alone would give it: the first call
that differs. The line that a test expects is marked in the program itself, by `# <-`.
"""

from __future__ import annotations

import contextlib
import sys
import textwrap
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import msgspec
import polars as pl

from rankandfile.model.case import Case
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import (
    Call,
    Cohort,
    Culprit,
    Diagnosis,
    Divergence,
    Job,
    Location,
    Verdict,
    Wait,
)
from rankandfile.model.ledger import call_id
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.model.sentence import Words
from rankandfile.model.tables import schema
from rankandfile.reason.conclusion import Conclusion, with_source
from rankandfile.reason.verdict.believed import Believed
from rankandfile.reason.verdict.finding import Finding
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.findings import source_findings
from rankandfile.source.lines.found_line import Search

FOLDER = "/workspace/train/"
MARK = "# <-"
_OPS = ("all_reduce", "broadcast", "barrier", "all_gather", "recv")
_MOST = 60

Frames = tuple[tuple[str, str, int], ...]


class Texts:
    """A root of a source tree that is held in memory."""

    name = ""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.files = {k: v.encode() if isinstance(v, str) else v for k, v in files.items()}

    def names(self) -> list[str]:
        return list(self.files)

    def read(self, name: str) -> bytes | None:
        return self.files.get(name)


def tree(files: Mapping[str, str | bytes]) -> SourceTree:
    return SourceTree([Texts(files)])


class Enough(BaseException):
    """The rank has made all the calls that a test looks at."""


@dataclass
class Run:
    files: dict[str, str]
    calls: dict[int, list[tuple[str, Frames]]] = field(default_factory=dict)

    @property
    def marked(self) -> tuple[str, int]:
        """The file and line that the program marks."""
        for name, text in self.files.items():
            for number, line in enumerate(text.splitlines(), 1):
                if MARK in line:
                    return name, number
        raise AssertionError("the program marks no line")


def play(world: int = 3, **files: str) -> Run:
    """Run `main()` of `train` on each rank; other files are modules that it can import."""
    texts = {f"{name}.py": textwrap.dedent(text).lstrip("\n") for name, text in files.items()}
    run = Run(texts)
    for rank in range(world):
        run.calls[rank] = made = []
        with mock.patch.dict(sys.modules, _torch(rank, world, made)), contextlib.suppress(Enough, SystemExit):
            _load(texts)["main"]()
    return run


def _load(texts: dict[str, str]) -> dict[str, Any]:
    for name, text in sorted(texts.items(), key=lambda item: item[0] == "train.py"):
        module = types.ModuleType(name.removesuffix(".py").removesuffix("/__init__").rsplit("/", 1)[-1])
        sys.modules[module.__name__] = module
        exec(compile(text, FOLDER + name, "exec"), module.__dict__)
    return module.__dict__


def _torch(rank: int, world: int, made: list[tuple[str, Frames]]) -> dict[str, types.ModuleType]:
    dist = types.ModuleType("torch.distributed")

    def noted(op: str) -> Callable[..., None]:
        def call(*_: object, **__: object) -> None:
            made.append((op, _frames()))
            if len(made) >= _MOST:
                raise Enough

        return call

    for op in _OPS:
        setattr(dist, op, noted(op))
    dist.get_rank = lambda: rank  # type: ignore[attr-defined]
    dist.get_world_size = lambda: world  # type: ignore[attr-defined]
    torch = types.ModuleType("torch")
    torch.distributed = dist  # type: ignore[attr-defined]
    torch.ones = Tensor  # type: ignore[attr-defined]
    torch.autograd = types.SimpleNamespace(Function=AutogradFunction)  # type: ignore[attr-defined]
    data = types.ModuleType("torch.utils.data")
    data.DataLoader = lambda dataset: list(dataset)  # type: ignore[attr-defined]
    metrics = types.ModuleType("torchmetrics")
    metrics.MeanMetric = _metric(dist)  # type: ignore[attr-defined]
    monai, means = types.ModuleType("monai"), types.ModuleType("monai.metrics")
    monai.metrics = means  # type: ignore[attr-defined]
    means.CumulativeAverage = _average(dist)  # type: ignore[attr-defined]
    return {"torch": torch, "torch.distributed": dist, "torch.utils.data": data, "torchmetrics": metrics,
            "monai": monai, "monai.metrics": means}  # fmt: skip


class Tensor:
    """Rows of nothing, and what a backward pass from them goes through."""

    def __init__(self, rows: int, made_by: tuple[type[AutogradFunction], ...] = ()) -> None:
        self.shape, self.made_by = (rows,), made_by

    def new_zeros(self, rows: int) -> Tensor:
        return Tensor(rows)

    def backward(self) -> None:
        for function in reversed(self.made_by):
            function.backward(None, self)


class AutogradFunction:
    forward: Callable[..., Tensor]
    backward: Callable[..., Tensor]

    @classmethod
    def apply(cls, tensor: Tensor) -> Tensor:
        return Tensor(cls.forward(None, tensor).shape[0], (*tensor.made_by, cls))


def _metric(dist: Any) -> type:
    """A metric as torchmetrics has them: it gathers where it was updated since, and else answers from what it kept."""

    class MeanMetric:
        update_count = 0

        def update(self, value: float) -> None:
            self.update_count += 1
            self.kept = None

        def compute(self) -> float:
            if self.kept is None:
                dist.all_gather(self.kept)
                self.kept = 1.0
            return self.kept

        kept: float | None = None

    return MeanMetric


def _average(dist: Any) -> type:
    """A mean as MONAI has them: it asks nobody where nothing was appended."""

    class CumulativeAverage:
        given = False

        def append(self, value: float, count: int = 1) -> None:
            self.given = True

        def reset(self) -> None:
            self.given = False

        def aggregate(self) -> float:
            if self.given:
                dist.all_reduce(1.0)
            return 0.0

    return CumulativeAverage


def _frames() -> Frames:
    """Of the program, innermost first."""
    frame = sys._getframe(2)
    found = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(FOLDER):
            found.append((frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(found)


def case_of(run: Run, seen: Mapping[int, Frames] | None = None) -> Case:
    frames: dict[tuple[str, str, int], int] = {}
    stacks: dict[Frames, int] = {}
    looked = dict(seen or {})
    for way in [w for made in run.calls.values() for _, w in made] + list(looked.values()):
        stacks.setdefault(way, len(stacks))
        for frame in way:
            frames.setdefault(frame, len(frames))
    calls = [
        {"rank": r, "group": 0, "seq": n + 1, "op": op, "name": op, "is_p2p": False, "shape": 0, "state": "completed",
         "retired": True, "site": frames[way[0]], "stack": stacks[way], "record": n, "dump": r}
        for r, made in run.calls.items()
        for n, (op, way) in enumerate(made)
    ]  # fmt: skip
    snapshots = [
        {"file": r, "line": 1, "rank": r, "ordinal": 0, "shows": "now", "role": "main", "thread_name": "",
         "native": False, "cut": False, "stack": stacks[way]}
        for r, way in looked.items()
    ]  # fmt: skip
    return Case(
        calls=_table("calls", calls),
        snapshots=_table("snapshots", snapshots),
        frames=_table("frames", [
            {"frame": n, "function": f, "file": file, "line": line, "is_torch": "/torch/" in file}
            for (f, file, line), n in frames.items()
        ]),
        stacks=_table("stacks", [
            {"stack": n, "frames": [frames[f] for f in way], "site": frames[way[0]]} for way, n in stacks.items()
        ]),
        dumps=_table("dumps", [{"dump": r, "source": f"rank{r}", "rank": r} for r in run.calls]),
        world_size=len(run.calls),
    )  # fmt: skip


def _table(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    columns = schema(name)
    return pl.DataFrame([{c: row.get(c) for c in columns} for row in rows], schema=columns)


def verdict_of(run: Run, culprit: int, cause: str = "skipped_collective", made: bool = True) -> Verdict:
    """What the dumps alone say: the first call that the culprit makes from elsewhere, or not at all."""
    others = [rank for rank in run.calls if rank != culprit]
    ours, theirs = run.calls[others[0]], run.calls[culprit]
    pairs = zip(ours, theirs, strict=False)
    at = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(ours), len(theirs)))
    cohorts = [cohort(others, others[0], ours, at), cohort([culprit], culprit, theirs, at)]
    return Verdict(
        hang=True,
        cause=cause,
        family=CAUSES[cause].family,
        confidence="supported",
        sentence=f"Rank {culprit} parted from the others.",
        culprits=[Culprit(rank=culprit)],
        victims=format_ranks(others),
        divergence=Divergence(group="0", seq=at + 1, kind="skipped" if made else "absent", cohorts=cohorts),
    )


def cohort(ranks: list[int], rank: int, calls: list[tuple[str, Frames]], at: int) -> Cohort:
    if at >= len(calls):
        return Cohort(ranks=format_ranks(ranks))
    op, way = calls[at]
    function, file, line = way[0]
    call = Call(op=op, seq=at + 1, file=file, line=line, function=function, evidence=[call_id(rank, at)])
    return Cohort(ranks=format_ranks(ranks), call=call)


def diagnosis_of(verdict: Verdict) -> Diagnosis:
    job = Job(world_size=None, ranks_seen="", groups=[], group_count=0, calls=0, dumps=0)
    return Diagnosis(job=job, verdicts=[verdict], evidence=[], notes=[])


def locate(case: Case, diagnosis: Diagnosis, source: SourceTree, words: Words = ()) -> Diagnosis:
    """The diagnosis with what the source adds to it. `words`: what the verdict's sentence is made of."""
    conclusion = Conclusion(
        job=diagnosis.job,
        believed=tuple(believed(one, words or (one.sentence,)) for one in diagnosis.verdicts),
        evidence=tuple(diagnosis.evidence),
        notes=tuple(diagnosis.notes),
        standings=tuple(diagnosis.standings),
    )
    return with_source(conclusion, source_findings(Search(case, source), diagnosis.verdicts), case).document()


def believed(verdict: Verdict, words: Words) -> Believed:
    """What such a verdict is made of."""
    finding = Finding(
        hang=verdict.hang,
        cause=verdict.cause,
        confidence=verdict.confidence,
        sentence=verdict.sentence,
        culprits=tuple(one.rank for one in verdict.named),
        doing={one.rank: one.doing for one in verdict.named if one.doing},
        victims=tuple(parse_ranks(verdict.victims)),
        divergence=verdict.divergence,
        location=verdict.location,
        evidence=tuple(verdict.evidence),
        alternatives=tuple(verdict.alternatives),
    )
    claims, waits = tuple(verdict.claims), tuple(verdict.waits)
    return Believed(finding=finding, words=words, claims=claims, waits=waits, hosts={})


def located(run: Run, culprit: int, files: SourceTree | None = None) -> Verdict:
    """The verdict on the run, with what its source adds."""
    source = files if files is not None else tree(run.files)
    return locate(case_of(run), diagnosis_of(verdict_of(run, culprit)), source).verdicts[0]


def undecided(run: Run, waits: Wait) -> Verdict:
    """Of a run in which some wait for others, and the evidence names nobody."""
    said = verdict_of(run, 0, "undetermined")
    return msgspec.structs.replace(said, culprits=[], divergence=None, waits=[waits], victims="")


def remarked(text: str, remark: str) -> int:
    """The line that ends in this remark."""
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.endswith(f"# {remark}"))


def place(location: Location | None) -> tuple[str, int | None] | None:
    return None if location is None else (location.file, location.condition_line or location.line)
