"""Do the patches hold? A scenario's faulty source, patched, must finish; with the probe in it, it must fail at once
and name the ranks and the decision. Both are fresh real runs."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from rankandfile.lab import calls, catalog, verify
from rankandfile.lab.problem import problem_of, stated_problem
from rankandfile.lab.ranks import Ranks
from rankandfile.lab.run import ScenarioError, lacking, run_scenario
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import build
from rankandfile.model.causes import CAUSES
from rankandfile.model.ranks import format_ranks
from rankandfile.source.files.tree import SourceTree, open_tree
from rankandfile.source.probes import probes
from rankandfile.source.remedies import Patch, Problem, Refusal, patched

What = Literal["remedy", "probe"]
Origin = Literal["diagnosis", "truth"]
#: These runs are to end, so that patience costs time only where one does not hold.
_STALL_S, _LIMIT_S = 12.0, 240.0
_ERROR = re.compile(
    r"(?:\[rank\d+\]: *)?[\w.]*(?:Error|Disagreement): (.*(?:the ranks differ|nobody sends).*)"
)
_NAMED = re.compile(r"\branks? ([\d,\- ]+?) (?:has|have|is|are)\b")


class Proof(msgspec.Struct, kw_only=True):
    """How one patch of one scenario did."""

    scenario: str
    what: What
    origin: Origin
    plain: bool
    held: bool
    ran: bool = True
    """False where this machine lacks what the program needs."""
    pattern: str = ""
    title: str = ""
    words: str = ""
    """What the run showed; why there is no patch, where there is none."""
    seconds: float = 0.0
    diff: str = ""


def scenarios() -> list[Scenario]:
    """The hangs that this machine can run."""
    return [s for s in catalog.scenarios() if s.hang and not lacking(s)]


def of_paths(scenario: Scenario) -> bool:
    """Ranks take different paths: every such scenario must have a patch and a probe that hold."""
    return CAUSES[scenario.cause].family == "paths"


def prove(
    scenario: Scenario,
    what: tuple[What, ...] = ("remedy", "probe"),
    *,
    plain: bool = False,
    origin: Origin = "truth",
    attempts: int = 2,
) -> list[Proof]:
    """Make the patches and run them. `origin` says where the problem is known from: the scenario's own truth, or the
    diagnosis of a fresh real hang with its source. Raises `ScenarioError` where the hang cannot be made."""
    with tempfile.TemporaryDirectory(prefix="prove-") as folder:
        src = Path(folder).resolve() / "src"
        build(scenario, src, fixed=False)
        tree = open_tree([src])
        problem = _problem(scenario, src, Path(folder), origin)
        found = []
        for one in what:
            proof = Proof(scenario=scenario.name, what=one, origin=origin, plain=plain, held=False)
            patch = _patch(problem, tree, one, plain)
            if isinstance(patch, Patch):
                _prove(proof, scenario, patch, src, Path(folder), attempts)
            else:
                proof.words = patch
            found.append(proof)
        return found


def _problem(scenario: Scenario, src: Path, folder: Path, origin: Origin) -> Problem | str:
    if origin == "truth":
        return stated_problem(scenario, src)
    incident = run_scenario(scenario, folder / "incident", twin=False)
    return problem_of(incident, src) or "the diagnosis names no line of the source"


def _patch(problem: Problem | str, tree: SourceTree, what: What, plain: bool) -> Patch | str:
    if isinstance(problem, str):
        return problem
    if what == "probe":
        found = [p for p in probes(problem, tree, plain) if p.pattern == "same_decision"]
        return found[0] if found else "no check of the decision can be put at this place"
    patch = patched(problem, tree, plain)
    return f"refused: {patch.words}" if isinstance(patch, Refusal) else patch


def _prove(proof: Proof, scenario: Scenario, patch: Patch, src: Path, folder: Path, attempts: int) -> None:
    proof.pattern, proof.title, proof.diff = patch.pattern, patch.title, patch.diff
    changed, control = folder / f"src-{proof.what}", folder / f"control-{proof.what}"
    shutil.copytree(src, changed)
    (changed / patch.path).write_text(patch.after)
    began = time.monotonic()
    check = finishes if proof.what == "remedy" else _names_them
    for _ in range(attempts):
        # A loaded machine can make a healthy run look stuck: once more, as the lab does with its own runs.
        shutil.rmtree(control, ignore_errors=True)
        proof.held, proof.words = check(scenario, changed, control)
        if proof.held:
            break
    proof.seconds = round(time.monotonic() - began, 1)


def _run(
    scenario: Scenario, src: Path, control: Path, over: Callable[[Ranks], bool] | None
) -> tuple[str, dict[int, int]]:
    """The run's outcome and exit codes. Nothing helps a hang along here, and the strikes from outside stay."""
    control.mkdir()
    plain = msgspec.structs.replace(
        scenario,
        hold_sockets=False,
        park_aborts=False,
        stall_s=_STALL_S,
        limit_s=_LIMIT_S,
        preload=scenario.preload if _needs_preload(src) else (),
    )
    with Ranks(plain, src, control, twin=False) as ranks:
        outcome = ranks.watch(until=over)
        return outcome, ranks.exits()


def _needs_preload(src: Path) -> bool:
    """What the lab imports ahead takes seconds, and is for optimizers, meshes and wrappers."""
    words = ("torch.optim", "device_mesh", "DistributedDataParallel", "fully_shard")
    return any(word in path.read_text(errors="replace") for path in src.rglob("*.py") for word in words)


def _log(scenario: Scenario, control: Path) -> calls.CallLog:
    return calls.merge_raw({r: control / f"calls_{r}.raw" for r in range(scenario.world_size)})


def finishes(scenario: Scenario, src: Path, control: Path) -> tuple[bool, str]:
    """Every rank ends with 0, and all members of a group made the same calls, as in the healthy twin.

    Where a rank raises for a reason, the remedy is that all do: the job must end on every rank, with an error.
    """
    try:
        outcome, codes = _run(scenario, src, control, None)
    except ScenarioError as error:
        return False, str(error).splitlines()[0]
    wanted = bool if scenario.cause == "raised" else (lambda code: not code)
    if outcome != "finished" or not all(map(wanted, codes.values())):
        words = f"{outcome}, exit codes {codes}: {_last_words(control)}"
        return False, words if outcome == "finished" else f"{words}; {_standing(scenario, control)}"
    if problems := verify.equal_sequences(_log(scenario, control)):
        return False, f"finished, but the ranks did not do the same: {problems[0]}"
    return True, f"finished, {sum(1 for _ in _log(scenario, control).calls)} calls"


def _names_them(scenario: Scenario, src: Path, control: Path) -> tuple[bool, str]:
    """A rank fails with a line that names the decision and the culprits, before any rank makes a call that the others
    do not make: in the step in which they part."""

    def over(ranks: Ranks) -> bool:
        return any(ranks.exits().values())

    try:
        outcome, codes = _run(scenario, src, control, over)
    except ScenarioError as error:
        return False, str(error).splitlines()[0]
    lines = _errors(control)
    if not any(codes.values()) or not lines:
        return False, f"{outcome}, exit codes {codes}: {_last_words(control)}"
    missing = set(scenario.culprits) - {rank for line in lines for rank in _ranks_named(line)}
    if missing:
        return False, f"ranks {sorted(missing)} are not named: {lines[0]}"
    if divergence := _divergence(_log(scenario, control)):
        return False, f"failed after the ranks had gone different ways: {divergence}"
    return True, lines[0]


def _errors(control: Path) -> list[str]:
    """The lines with which the probe ended ranks."""
    return [
        match[1]
        for path in sorted(control.glob("rank_*.log"))
        for line in path.read_text(errors="replace").splitlines()
        if (match := _ERROR.match(line)) is not None
    ]


def _ranks_named(line: str) -> set[int]:
    named: set[int] = set()
    for match in _NAMED.finditer(line):
        for part in match[1].replace(" ", "").split(","):
            first, _, last = part.partition("-")
            named.update(range(int(first), int(last or first) + 1))
    return named


def _divergence(log: calls.CallLog) -> str:
    """Where two members of a group made different calls; empty if all are equal as far as they go."""
    for group in log.groups:
        sequences = {
            rank: [(c.op, c.stack and c.stack[0][2]) for c in log.of(group, rank)] for rank in group.ranks
        }
        longest = max(sequences.values(), key=len)
        for rank, mine in sequences.items():
            if mine != longest[: len(mine)]:
                return f"rank {rank} on {group.desc or group.name}"
    return ""


def _standing(scenario: Scenario, control: Path) -> str:
    """The last call of each rank: a patch that only lets the job hang elsewhere shows by it."""
    last = {call.rank: call for call in _log(scenario, control).calls}
    places: dict[str, list[int]] = {}
    for rank, call in sorted(last.items()):
        where = f" ({call.site[0]}:{call.site[1]})" if call.site else ""
        places.setdefault(f"{call.op}{where}", []).append(rank)
    return ", ".join(f"{format_ranks(ranks)} in {place}" for place, ranks in places.items())


def _last_words(control: Path) -> str:
    for path in sorted(control.glob("rank_*.log")):
        lines = path.read_text(errors="replace").strip().splitlines()
        if lines and "Error" in lines[-1]:
            return f"{path.stem}: {lines[-1][:300]}"
    return "no error in the logs"
