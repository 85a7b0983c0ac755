"""One way through the house: whoever asks, with the same options the answer is the same."""

from __future__ import annotations

import inspect
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP

import rankandfile
from rankandfile import listing
from rankandfile.agent.bench import bench_of
from rankandfile.lab.score.analysers import analyser
from rankandfile.lab.score.answer import from_diagnosis
from rankandfile.lab.sim.run import simulate
from rankandfile.model.diagnosis import to_json
from rankandfile.model.errors import UserError
from rankandfile.pipeline import Options, diagnose, load, run
from rankandfile.reason.pictures import pictures
from rankandfile.render.report import page
from rankandfile.source.registry.tables import TABLE

pytestmark = pytest.mark.slow

SHARED = [
    "src", "git", "hung", "attempt", "jobs", "engine", "limit_seconds", "limit_files", "limit_memory", "follow_links",
]  # fmt: skip
DIAGNOSING = ["diagnose", "report", "fix", "explore", "investigate", "mcp"]
SHOWING = ["source", "waits", "cohorts", "timeline", "stacks", "evidence"]

_YEARS_NS = 3 * 365 * 86_400 * 10**9


@pytest.fixture(scope="module")
def lost_times(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An incident whose dumps have lost the time of their writing, as copied files have: is it a hang?"""
    incident = simulate("blocked-save", tmp_path_factory.mktemp("lost") / "incident")
    for path in (incident / "evidence" / "dumps").iterdir():
        later = path.stat().st_mtime_ns + _YEARS_NS
        os.utime(path, ns=(later, later))
    return incident


@pytest.mark.parametrize(
    ("hung", "with_source"),
    [
        (False, True),
        pytest.param(True, True, marks=pytest.mark.lab),
        pytest.param(False, False, marks=pytest.mark.lab),
        pytest.param(True, False, marks=pytest.mark.lab),
    ],
)
def test_every_door_gives_the_same_answer(
    raf: Raf, lost_times: Path, tmp_path: Path, hung: bool, with_source: bool
) -> None:
    evidence, source = lost_times / "evidence" / "dumps", lost_times / "src"
    options = Options(sources=(source,) if with_source else (), hung=hung, jobs=1)
    words: list[Any] = [evidence, *(["--src", source] if with_source else []), *(["--hung"] if hung else [])]
    result = run([evidence], options)
    answer = to_json(result.diagnosis)
    assert bool(result.diagnosis.verdicts[0].assumed) == (not hung)

    printed = raf("diagnose", *words, "--format", "json", "--report", tmp_path / "one.html").out
    assert printed.strip() == answer.decode()
    raf("report", *words, "-o", tmp_path / "two.html")
    drawn = page(result.diagnosis, pictures(result.facts, result.diagnosis), rankandfile.__version__)
    for written in ("one.html", "two.html"):
        assert (tmp_path / written).read_text(encoding="utf-8") == drawn

    asked = rankandfile.diagnose(evidence, src=source if with_source else (), hung=hung, jobs=1)
    assert asked.to_json() == answer
    assert to_json(diagnose(load([evidence], options), options).diagnosis) == answer
    assert to_json(bench_of([evidence], options).diagnosis) == answer


def test_a_case_that_an_agent_opens_is_diagnosed_in_the_same_way(lost_times: Path) -> None:
    pytest.importorskip("mcp")
    from rankandfile.agent.mcp.answers import OpenCase, open_case
    from rankandfile.agent.mcp.cases import OpenCases
    from rankandfile.agent.mcp.confine import Roots
    from rankandfile.cli.commands.mcp import _read

    cases = OpenCases(Roots([lost_times]), _read)
    list(open_case(cases, OpenCase(paths=("evidence/dumps",), src=("src",), hung=True)))
    options = Options(sources=(lost_times / "src",), hung=True)
    opened = cases.named(None).bench.diagnosis
    assert to_json(opened) == to_json(run([lost_times / "evidence" / "dumps"], options).diagnosis)


@pytest.mark.parametrize("name", ["raf", "raf-src", "raf-dumps"])
def test_what_is_scored_is_what_people_run(name: str) -> None:
    evidence = EARLY_STOP / "evidence" / ("dumps" if name == "raf-dumps" else "")
    sources = (EARLY_STOP / "src",) if name == "raf-src" else ()
    scored = analyser(name, in_process=True)(EARLY_STOP)
    expected = from_diagnosis(run([evidence], Options(sources=sources, jobs=1)).diagnosis)
    scored.seconds = expected.seconds
    assert scored == expected


def test_every_command_that_diagnoses_takes_the_same_options() -> None:
    for package, names in (("", DIAGNOSING), (".show", SHOWING)):
        modules = {one.__name__: one for one in listing.modules(f"rankandfile.cli.commands{package}")}
        for name in names:
            command = getattr(modules[f"rankandfile.cli.commands{package}.{name}"], name)
            assert list(inspect.signature(command).parameters)[-len(SHARED) :] == SHARED, name


def test_steps_and_progress_are_told_to_whoever_listens() -> None:
    steps: list[str] = []
    stages: list[str] = []
    options = Options(sources=(EARLY_STOP / "src",), jobs=1)
    result = run(
        [EARLY_STOP / "evidence"],
        options,
        on_progress=lambda stage, _done, _of: stages.append(stage),
        on_step=steps.append,
    )
    assert list(dict.fromkeys(stages)) == ["reading", "reasoning", "reading the source"]
    assert tuple(steps) == result.facts.steps


def test_functions_that_one_jobs_people_know_to_be_collectives_are_so_for_that_job_alone() -> None:
    with_source = Options(sources=(EARLY_STOP / "src",), jobs=1)
    run([EARLY_STOP / "evidence"], replace(with_source, collectives=("ourlib.all_mean",)))
    assert "ourlib.all_mean" in TABLE.collectives
    run([EARLY_STOP / "evidence"], with_source)
    assert "ourlib.all_mean" not in TABLE.collectives


@pytest.mark.parametrize(
    ("paths", "options", "words"),
    [
        (["nowhere"], Options(), "nowhere: no such file or directory"),
        (["."], Options(sources=(Path("nowhere"),)), "nowhere: no such file or directory"),
        (["."], Options(revision="v1"), "--git needs --src"),
        (["."], Options(sources=(Path(),)), "no Python file in ."),
        (["notes.txt"], Options(), "notes.txt: nothing there tells of a job"),
    ],
)
def test_what_a_person_can_mend_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paths: list[str], options: Options, words: str
) -> None:
    (tmp_path / "notes.txt").write_text("nothing of interest\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as error:
        run([Path(path) for path in paths], replace(options, jobs=1))
    assert str(error.value).startswith(words)
    assert "\n" not in str(error.value)


def test_the_address_of_a_file_of_this_machine_is_its_path(lost_times: Path) -> None:
    dumps = lost_times / "evidence" / "dumps"
    assert Path(f"file://{dumps}") != dumps
    for address in (f"file://{dumps}", f"file://localhost{dumps}"):
        assert load([Path(address)], Options(jobs=1)).calls.equals(load([dumps], Options(jobs=1)).calls)
    with pytest.raises(UserError, match="/none of these: no such file"):
        load([Path("file:///none%20of%20these")])


def test_a_changed_cause_brings_its_own_advice(lost_times: Path) -> None:
    """Advice is that of the cause that is printed, also where the source is what told it."""
    from rankandfile.model.causes import CAUSES

    for incident in (EARLY_STOP, lost_times):
        found = run([incident / "evidence"], Options(sources=(incident / "src",), hung=True, jobs=1))
        for verdict in json.loads(to_json(found.diagnosis))["verdicts"]:
            assert set(CAUSES[verdict["cause"]].anti_advice) <= set(verdict["anti_advice"])
