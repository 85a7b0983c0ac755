"""What the author of a blind set writes: `set.toml`, and of each case `case.toml` and `truth.toml`."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from rankandfile.lab.scenario import At, Cohort, Divergence, Evidence, Look, Scenario, Strike
from rankandfile.lab.truth import long_ranks
from rankandfile.model.causes import CAUSES
from rankandfile.model.errors import UserError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found]

SET, CASE, TRUTH = "set.toml", "case.toml", "truth.toml"
"""The files; `truth.toml` is the author's until the set is sealed."""

NOT_SAID = "not said yet"
"""The author's word in a new set."""

Kind = Literal["user code", "framework", "layout", "process and host", "start and end", "evidence form"]

T = TypeVar("T")


class _Written(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A misspelt key is an error, and not a default."""


class SetFile(_Written, kw_only=True):
    name: str
    author: str
    """In the author's words: who wrote it, how, and what of the analyser had been seen."""
    commit: str
    """The commit that is to be scored: current before the set was written."""
    of: Literal["programs", "evidence"] = "programs"
    """Evidence: folders as people have them, with no program beside them."""
    kinds: list[Kind] = []


class CaseFile(_Written, kw_only=True):
    """How one case is run, and what it is about."""

    kind: Kind
    command: str = "train.py"
    """What follows `python`, in `src/`."""
    ranks: int
    healthy: bool = False
    """A healthy job that looks suspicious: it must end with 0 on every rank."""
    stall_s: float = 3.0
    """It hangs where no rank issues a call, prints a line or ends for so long."""
    limit_s: float = 60.0
    needs: list[str] = []
    env: dict[str, str] = {}
    hold_sockets: bool = True
    park_aborts: bool = True
    strikes: list[Strike] = []
    look: Look | None = None
    """Of a healthy case: when somebody looks. Left out, the evidence is what it leaves at its end."""
    evidence: Evidence = Evidence()


class _CohortFile(_Written, kw_only=True):
    ranks: str
    op: str = ""
    at: At | None = None


class _DivergenceFile(_Written, kw_only=True):
    kind: str
    cohorts: list[_CohortFile] = []
    group: str = "default_pg"
    containing: int = 0
    occurrence: int = 1


class TruthFile(_Written, kw_only=True):
    """What really happens in one case; the program's lines are named by text that occurs once."""

    title: str
    cause: str
    culprits: list[int]
    accepted_causes: list[str] = []
    culprits_from_dumps: list[int] | None = None
    """Whom the dumps alone can tell. Left out: all of them."""
    decoys: list[int] = []
    seen_in: str = ""
    fix: str = ""
    location: At | None = None
    accepted: list[At] = []
    """Lines that are as good an answer as `location`."""
    divergence: _DivergenceFile


class Case(msgspec.Struct, frozen=True):
    folder: Path
    file: CaseFile

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def kind(self) -> str:
        """Under which its marks are counted."""
        return "healthy" if self.file.healthy else self.file.kind


def lacks(case: Case) -> str:
    """A package that the program imports, and that is not installed here; empty if there is none."""
    words = [need.split()[0] for need in case.file.needs if need.split()]
    absent = [word for word in words if word.isidentifier() and importlib.util.find_spec(word) is None]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in case.folder.rglob("src/**/*.py")]
    asked = (
        word
        for word in absent
        if any(re.search(rf"^\s*(import|from) {word}\b", t, re.MULTILINE) for t in texts)
    )
    return next(asked, "")


def read(path: Path, type_: type[T]) -> T:
    """Raises `UserError`, with the key, for what is not as it should be."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), type_)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, msgspec.ValidationError) as error:
        raise UserError(f"{path}: {error}") from error


def read_set(folder: Path) -> SetFile:
    if not (folder / SET).is_file():
        raise UserError(f"{folder} is no blind set, it has no {SET}: make one with raf lab blind new")
    return read(folder / SET, SetFile)


def cases(folder: Path) -> list[Case]:
    """By name. Raises `UserError` where there is none."""
    found = [Case(file.parent, read(file, CaseFile)) for file in sorted(folder.glob(f"*/{CASE}"))]
    if not found:
        raise UserError(f"{folder} has no case: no folder in it holds a {CASE}")
    return found


def scenario_of(case: Case, truth: TruthFile) -> Scenario:
    """The case as the lab runs it. Raises `UserError` where the two files contradict each other."""
    _agree(case, truth)
    stated = truth.divergence
    tellable = truth.culprits if truth.culprits_from_dumps is None else truth.culprits_from_dumps
    return msgspec.structs.replace(
        to_run(case, truth.title, truth.cause, truth.culprits),
        accepted_causes=tuple(truth.accepted_causes),
        cause_from_dumps=truth.cause if tellable or case.file.healthy else "",
        culprits_from_dumps=tuple(tellable),
        decoys=tuple(truth.decoys),
        seen_in=truth.seen_in,
        fix_summary=truth.fix,
        location=truth.location,
        divergence=Divergence(
            stated.kind,
            tuple(Cohort(tuple(long_ranks(one.ranks)), one.op, one.at) for one in stated.cohorts),
            stated.group,
            stated.containing,
            stated.occurrence,
        ),
    )


def to_run(case: Case, title: str, cause: str, culprits: Sequence[int]) -> Scenario:
    """How the case is run, with no word of where the ranks part."""
    file = case.file
    return Scenario(
        name=case.name,
        title=title,
        # An absolute path leads away from the lab's own programs.
        program=str((case.folder / "src").resolve()),
        world_size=file.ranks,
        cause=cause,
        culprits=tuple(culprits),
        command=tuple(shlex.split(file.command)),
        env=file.env,
        needs=tuple(file.needs),
        hang=not file.healthy,
        stall_s=file.stall_s,
        limit_s=file.limit_s,
        strikes=tuple(file.strikes),
        look=file.look,
        # What holds on to a hang would make a healthy job look worse than it is.
        hold_sockets=file.hold_sockets and not file.healthy,
        park_aborts=file.park_aborts and not file.healthy,
        evidence=_healthy(file.evidence) if file.healthy else file.evidence,
    )


def _healthy(evidence: Evidence) -> Evidence:
    return msgspec.structs.replace(evidence, dump_at_exit=True, watchdog=False)


def _agree(case: Case, truth: TruthFile) -> None:
    unknown = [cause for cause in (truth.cause, *truth.accepted_causes) if cause not in CAUSES]
    ranks = {
        *truth.culprits,
        *truth.decoys,
        *(r for c in truth.divergence.cohorts for r in long_ranks(c.ranks)),
    }
    wrong = [
        (unknown, f"no such cause: {', '.join(unknown)}"),
        (not truth.title.strip(), "has no title"),
        (
            case.file.healthy != (truth.cause == "no_hang"),
            "healthy cases, and no others, have the cause no_hang",
        ),
        (case.file.healthy and truth.culprits, "a healthy case has no culprits"),
        (not ranks <= set(range(case.file.ranks)), f"names a rank that a job of {case.file.ranks} has not"),
        (case.file.look and not case.file.healthy, "a look at the running job is for healthy cases"),
        (
            truth.divergence.kind != "none" and not truth.divergence.cohorts,
            "has a divergence without cohorts",
        ),
    ]
    for is_wrong, words in wrong:
        if is_wrong:
            raise UserError(f"{case.folder.name}: {words}")
