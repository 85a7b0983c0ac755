"""Make one hang, or its healthy twin, and keep what a real incident leaves."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rankandfile.lab import calls, catalog, collect, verify, virtual_hosts
from rankandfile.lab.ranks import OnLine, Ranks
from rankandfile.lab.scenario import Scenario
from rankandfile.lab.source_tree import ScenarioError, build, diff, locate
from rankandfile.lab.truth import DivergenceTruth, FixTruth, Truth, family_of, write

Progress = Callable[[str], None]

__all__ = ["ScenarioError", "run_scenario"]


def _silent(_message: str) -> None:
    return None


def run_scenario(
    name: str | Scenario,
    out_dir: Path,
    *,
    twin: bool = False,
    place: Path | None = None,
    on_progress: Progress = _silent,
    on_line: OnLine | None = None,
    attempts: int = 2,
) -> Path:
    """Run it and write the incident to `out_dir`, which is replaced. Returns `out_dir`.

    `on_line` hears what the ranks print. `place` is where the source tree lies while it runs, a folder that does
    not exist yet: it shows in the frames. Raises `ScenarioError` where the machine lacks what the scenario needs,
    and when the run does not do what the scenario says, after one more attempt: a loaded machine can make a
    healthy run look stuck.
    """
    scenario = catalog.get(name) if isinstance(name, str) else name
    if reason := lacking(scenario):
        raise ScenarioError(f"{scenario.name}: {reason}")
    for attempt in range(1, attempts + 1):
        try:
            return _run_once(scenario, out_dir, twin, place, on_progress, on_line)
        except ScenarioError as error:
            if attempt == attempts:
                raise
            on_progress(f"once more: {error}")
    raise AssertionError("unreachable")


def lacking(scenario: Scenario) -> str:
    """Why this machine cannot run the scenario; empty if it can."""
    if not _has_torch():
        return "real scenarios run torch processes, and torch is not installed: pip install torch"
    reason = virtual_hosts.missing() if scenario.cuts else ""
    return f"needs {' and '.join(scenario.needs)}, for virtual hosts: {reason}" if reason else ""


def _has_torch() -> bool:
    try:
        return importlib.util.find_spec("torch") is not None
    except ValueError:  # somebody has put a blank in its place
        return False


def _run_once(
    scenario: Scenario, out_dir: Path, twin: bool, place: Path | None, say: Progress, on_line: OnLine | None
) -> Path:
    with tempfile.TemporaryDirectory(prefix="job-") as folder, _source_folder(place, Path(folder)) as src:
        job = Path(folder).resolve()
        control, incident = job / "control", job / "incident"
        control.mkdir()
        build(scenario, src, fixed=twin)
        pristine = job / "tree"
        shutil.copytree(src, pristine)
        say(f"starting {scenario.world_size} ranks of {scenario.program}")
        evidence = incident / "evidence"
        with Ranks(scenario, src, control, twin=twin) as ranks:
            outcome = ranks.watch(on_line, _due(scenario))
            looked = outcome == "ended"
            say(f"the job is {'running' if looked else outcome}; collecting")
            if outcome == "stuck" or not twin:
                collect.stacks(ranks, evidence / "stacks", scenario.evidence)
                collect.request_dumps(ranks)
            (evidence).mkdir(parents=True, exist_ok=True)
            collect.exits(ranks, evidence / "exits.json")
            printed = {log: log.stat().st_size for log in control.glob("rank_*.log")}
            if looked:
                outcome = ranks.watch(on_line)
            codes = ranks.exits()
        for path, size in printed.items():
            # What came later was not there for whoever looked: ranks that lose each other as the job is ended say so.
            os.truncate(path, size)
        log = calls.merge_raw({r: control / f"calls_{r}.raw" for r in range(scenario.world_size)})
        _check_outcome(scenario, twin, outcome, codes, log, control)
        decoded = collect.dumps(control, evidence / "dumps", scenario.evidence, scenario.world_size)
        collect.logs(control, evidence / "logs", scenario, decoded, log)
        collect.environment(control, evidence / "env.txt")
        calls.write(log, incident / "calls.jsonl")
        pristine.rename(incident / "src")
        write(_truth(scenario, twin, log, incident / "src", job), incident)
        say("the call log confirms the truth")
        if out_dir.exists():
            shutil.rmtree(out_dir)
        out_dir.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(incident, out_dir)
    return out_dir


def _due(scenario: Scenario) -> Callable[[Ranks], bool] | None:
    """Whether it is time for the look that the scenario wants at the running job."""
    look = scenario.look
    reached: list[float] = []
    if look is None:
        return None

    def due(ranks: Ranks) -> bool:
        if not reached and ranks.calls(look.rank) >= look.after_calls:
            reached.append(time.monotonic())
        return bool(reached) and time.monotonic() - reached[0] >= look.wait_s

    return due


@contextmanager
def _source_folder(place: Path | None, job: Path) -> Iterator[Path]:
    if place is None:
        yield job.resolve() / "src"
        return
    if place.exists():
        raise ScenarioError(f"{place} exists already")
    place.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield place.resolve()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _check_outcome(
    scenario: Scenario, twin: bool, outcome: str, codes: dict[int, int], log: calls.CallLog, control: Path
) -> None:
    if not twin:
        if scenario.cause == "no_hang" and any(codes.values()):
            raise ScenarioError(f"{scenario.name}: not healthy, exit codes {codes}\n{_tails(control)}")
        if scenario.hang != (outcome == "stuck"):
            raise ScenarioError(f"{scenario.name}: the job {outcome}, exit codes {codes}\n{_tails(control)}")
        return
    if outcome != "finished" or any(codes.values()):
        raise ScenarioError(f"{scenario.name}: the twin {outcome}, exit codes {codes}\n{_tails(control)}")
    if problems := verify.equal_sequences(log):
        raise ScenarioError(f"{scenario.name}: the twin's ranks did not do the same: {problems[:4]}")


def _tails(control: Path) -> str:
    return "\n".join(
        f"--- {p.name}\n{p.read_text(errors='replace')[-800:]}" for p in sorted(control.glob("rank_*.log"))
    )


def _truth(scenario: Scenario, twin: bool, log: calls.CallLog, tree: Path, job: Path) -> Truth:
    if twin:
        return Truth(
            name=f"{scenario.name}.twin",
            title=f"Healthy twin of: {scenario.title}",
            hang=False,
            cause="no_hang",
            family=family_of("no_hang"),
            culprits=[],
            cause_from_dumps="no_hang",
            decidable_from_dumps=True,
            twin=True,
            divergence=DivergenceTruth(kind="none"),
            program=scenario.program,
            world_size=scenario.world_size,
            seen_in=scenario.seen_in,
        )
    fixed = job / "fixed"
    build(scenario, fixed, fixed=True)
    return Truth(
        name=scenario.name,
        title=scenario.title,
        hang=scenario.hang,
        cause=scenario.cause,
        family=family_of(scenario.cause),
        culprits=list(scenario.culprits),
        accepted_causes=list(scenario.accepted_causes),
        decidable_from_dumps=bool(scenario.cause_from_dumps),
        cause_from_dumps=scenario.cause_from_dumps,
        culprits_from_dumps=list(scenario.culprits_from_dumps),
        decoys=list(scenario.decoys),
        divergence=verify.divergence(scenario, log, tree),
        location=locate(scenario.location, tree, scenario.name) if scenario.location else None,
        fix=FixTruth(summary=scenario.fix_summary, diff=diff(tree, fixed)),
        program=scenario.program,
        world_size=scenario.world_size,
        seen_in=scenario.seen_in,
    )
