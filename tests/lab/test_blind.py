"""Blind sets without torch: the programs' evidence is that of incidents that were recorded before."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf

from rankandfile.lab import truth as truths
from rankandfile.lab.blind import case, code, page, scoring, sealed, sealing
from rankandfile.lab.blind.forms import FORMS
from rankandfile.lab.blind.reveal import reveal
from rankandfile.lab.scenario import Evidence, Scenario
from rankandfile.lab.score.answer import Answer
from rankandfile.lab.sim.run import simulate
from rankandfile.model.errors import UserError

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "early-stop"

SET = """
name = "spring"
author = "A test, which has seen everything."
commit = "0000000"
kinds = ["user code"]
"""
TRUTH = """
title = "Early stopping looks at the rank's own loss"
cause = "rank_conditional"
accepted_causes = ["early_exit", "skipped_collective"]
culprits = [2]
[location]
file = "trainer.py"
anchor = "if self.out_of_patience():"
[divergence]
kind = "none"
"""
HEALTHY = """
title = "Nothing is wrong"
cause = "no_hang"
culprits = []
[divergence]
kind = "none"
"""


def recorded(scenario: Scenario, into: Path) -> Path:
    """In place of a run: what an earlier one left."""
    if scenario.hang:
        return Path(shutil.copytree(EXAMPLE, into))
    return simulate("peers-other-op.twin", into)


@pytest.fixture(scope="module")
def sealed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blind") / "spring"
    write_set(folder)
    sealing.seal(folder, record=recorded)
    return folder


@pytest.fixture(scope="module")
def scored_once(sealed_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(shutil.copytree(sealed_once, tmp_path_factory.mktemp("scored") / "spring"))
    page.append(folder.parent / "page.md", page.block(scoring.score(folder, run_patches=False)))
    return folder


@pytest.fixture
def folder(sealed_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sealed_once, tmp_path / "spring"))


@pytest.fixture
def scored(scored_once: Path, tmp_path: Path) -> Path:
    shutil.copytree(scored_once.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "spring"


def write_set(folder: Path) -> None:
    for name, healthy, ranks, truth in (("stops", "false", 4, TRUTH), ("well", "true", 16, HEALTHY)):
        shutil.copytree(EXAMPLE / "src", folder / name / "src")
        (folder / name / "case.toml").write_text(
            f'kind = "user code"\nranks = {ranks}\nhealthy = {healthy}\n', encoding="utf-8"
        )
        (folder / name / "truth.toml").write_text(truth, encoding="utf-8")
    (folder / "set.toml").write_text(SET, encoding="utf-8")


def test_the_skeleton_is_a_set_of_one_case(raf: Raf, tmp_path: Path) -> None:
    done = raf("lab", "blind", "new", tmp_path / "summer")
    assert done.status == 0, done.err
    assert case.read_set(tmp_path / "summer").name == "summer"
    (one,) = case.cases(tmp_path / "summer")
    stated = case.read(one.folder / case.TRUTH, case.TruthFile)
    assert case.scenario_of(one, stated).culprits == (1,)
    assert raf("lab", "blind", "new", tmp_path / "summer").status == 2
    assert "who wrote the set" in raf("lab", "blind", "seal", tmp_path / "summer").err


def test_a_sealed_set_shows_no_truth(folder: Path) -> None:
    assert sorted(path.name for path in (folder / "stops").iterdir()) == ["case.toml", "evidence", "src"]
    assert "out_of_patience" not in (folder / sealed.FILE).read_text()
    known = sealed.read(folder).content.cases["stops"]
    assert known.truth.culprits == [2]
    with pytest.raises(UserError, match="sealed already"):
        sealing.seal(folder, record=recorded)


def test_a_case_is_tried_and_nothing_sealed(tmp_path: Path) -> None:
    write_set(tmp_path)
    ran: list[str] = []
    sealing.check(tmp_path, ["well"], ran.append, record=recorded)
    assert ran == ["well: running 16 ranks"] and (tmp_path / "well" / "evidence").is_dir()
    assert not sealed.is_sealed(tmp_path) and not (tmp_path / "stops" / "evidence").exists()
    assert (tmp_path / "well" / "truth.toml").exists()
    with pytest.raises(UserError, match="has no case summer"):
        sealing.check(tmp_path, ["summer"], record=recorded)


def test_no_set_is_sealed_without_the_stacks_that_its_cases_ask_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_set(tmp_path)
    monkeypatch.setattr(sealing, "lacking", lambda _: "")
    monkeypatch.setattr(sealing, "py_spy", lambda: None)
    with pytest.raises(UserError, match="pip install py-spy"):
        sealing.seal(tmp_path)


@pytest.mark.parametrize(
    "file", ["stops/src/trainer.py", "well/case.toml", "set.toml", "stops/evidence/logs/rank_0.log"]
)
def test_a_set_that_was_changed_is_noticed(folder: Path, file: str) -> None:
    path = folder / file
    path.write_text(path.read_text() + "\n# changed\n")
    with pytest.raises(UserError, match=f"changed since it was sealed: {file}"):
        scoring.score(folder)


def test_a_file_that_was_added_or_taken_away_is_noticed(folder: Path) -> None:
    (folder / "stops" / "evidence" / "hint.log").write_text("it was rank 2")
    with pytest.raises(UserError, match=r"hint\.log"):
        sealed.read(folder)
    (folder / "stops" / "evidence" / "hint.log").unlink()
    (folder / "stops" / "evidence" / "exits.json").unlink()
    with pytest.raises(UserError, match=r"exits\.json"):
        sealed.read(folder)


def test_truths_that_were_changed_are_noticed(folder: Path) -> None:
    seal = sealed.read(folder)
    mine = seal.content.cases
    mine["stops"].truth.culprits = [0]
    assert sealed.write(folder, mine) != seal.checksum, "who seals anew has another checksum"
    text = (folder / sealed.FILE).read_text()
    (folder / sealed.FILE).write_text(text.replace(text.split()[-1], "AAAA" + text.split()[-1][4:]))
    with pytest.raises(UserError, match=r"damaged|was changed"):
        sealed.read(folder)


def test_every_form_of_evidence_is_scored_and_the_row_tells_it(scored: Path) -> None:
    done = scoring.first_round(scored)
    assert done is not None
    marks = {(mark.case, mark.form): mark for mark in done.marks}
    assert len(marks) == 2 * len(FORMS)
    full = marks["stops", "all evidence and sources"]
    assert (full.culprits, full.cause, full.file, full.line, full.condition) == (True,) * 5
    assert full.innocents == []
    assert (marks["well", "all evidence"].culprits, marks["well", "all evidence"].nobody) == (None, True)
    assert full.nobody is None
    assert marks["well", "all evidence"].hang is not False
    assert marks["stops", "dumps only"].culprits
    answer = json.loads(scoring.answer_of(scored, "stops", FORMS[0]).read_bytes())
    assert answer["schema"] == "rankandfile.diagnosis/1"
    text = (scored.parent / "page.md").read_text()
    assert f"Set sealed as `{done.checksum}`" in text
    assert "First contact: **no**, the code is not that of commit 0000000" in text
    assert "| all evidence and sources | 2 | " in text
    assert "1/1 (100%, 21%-100%)" in text


@pytest.mark.lab
def test_a_second_scoring_is_refused_or_says_what_it_is(raf: Raf, scored: Path, tmp_path: Path) -> None:
    told = tmp_path / "page.md"
    before = told.read_text()
    assert raf("lab", "blind", "score", scored, "--page", told).status == 2
    shutil.rmtree(scored / scoring.FOLDER)
    refused = raf("lab", "blind", "score", scored, "--page", told)
    assert refused.status == 2, "the page knows it"
    assert "was scored before" in refused.err
    assert raf("lab", "blind", "score", scored, "--page", told, "--again").status == 0
    after = told.read_text()
    assert after.startswith(before), "nothing is changed, and one block added"
    assert "scoring 2" in after[len(before) :]
    assert "First contact: **no**, the set was scored before" in after[len(before) :]


def test_a_set_sealed_anew_is_not_the_one_on_the_page(raf: Raf, scored: Path, tmp_path: Path) -> None:
    shutil.rmtree(scored / scoring.FOLDER)
    truths_of = sealed.read(scored).content.cases
    truths_of["stops"].truth.culprits = [0]
    sealed.write(scored, truths_of)
    refused = raf("lab", "blind", "score", scored, "--page", tmp_path / "page.md", "--again")
    assert refused.status == 2
    assert "sealed otherwise" in refused.err


def test_the_reveal_shows_both_and_leaves_ordinary_incidents(raf: Raf, scored: Path) -> None:
    done = raf("lab", "blind", "reveal", scored)
    assert done.status == 0, done.err
    assert "if self.out_of_patience():" in done.out
    assert "said: trainer.py:40" in done.out
    assert truths.read(scored / "stops").culprits == [2]
    assert raf("lab", "score", "--in-process", "--set", scored).status == 0
    sealed.read(scored)


def test_a_set_that_was_not_scored_is_not_opened(folder: Path) -> None:
    with pytest.raises(UserError, match="not scored yet"):
        reveal(folder)
    assert not (folder / "stops" / "truth.toml").exists()


def test_the_page_loses_the_line_that_says_there_is_none(scored: Path, tmp_path: Path) -> None:
    done = scoring.first_round(scored)
    assert done is not None
    fresh = tmp_path / "fresh.md"
    fresh.write_text(f"# First contact\n\nWords.\n\n{page.NONE_YET}")
    page.append(fresh, page.block(done))
    assert fresh.read_text().startswith("# First contact\n\nWords.\n\n### ")


def test_the_code_is_that_of_the_commit_asked_for_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    (package / "lab").mkdir(parents=True)
    monkeypatch.setattr(code, "PACKAGE", package)

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        return subprocess.run(
            ["git", *who, *words], cwd=package, check=True, capture_output=True, text=True
        ).stdout.strip()

    assert code.code() == code.Code(commit="", dirty=False, as_asked=False)
    git("init", "-q")
    (package / "reason.py").write_text("1")
    git("add", ".")
    git("commit", "-qm", "one")
    asked = git("rev-parse", "HEAD")
    (package / "lab" / "page.py").write_text("2")
    assert code.code(asked).dirty
    git("add", ".")
    git("commit", "-qm", "two")
    assert code.code(asked).as_asked, "the lab only asks"
    (package / "reason.py").write_text("3")
    assert not code.code(asked).as_asked
    git("commit", "-qam", "three")
    assert not code.code(asked).as_asked
    assert code.code().as_asked
    assert not code.code("--all").as_asked


@pytest.mark.parametrize(
    ("file", "before", "after", "words"),
    [
        ("truth.toml", "rank_conditional", "gremlins", "no such cause: gremlins"),
        ("truth.toml", "culprits = [2]", "culprits = [7]", "names a rank"),
        ("truth.toml", "out_of_patience", "out_of_time", "is on 0 lines"),
        ("truth.toml", "culprits", "culprit", "unknown field"),
        ("case.toml", "healthy = false", "healthy = true", "have the cause no_hang"),
        ("case.toml", "user code", "framework", "kinds lacks framework"),
        ("case.toml", "user code", "weather", "weather"),
    ],
)
def test_what_the_author_got_wrong_is_said_before_anything_runs(
    tmp_path: Path, file: str, before: str, after: str, words: str
) -> None:
    write_set(tmp_path / "spring")
    path = tmp_path / "spring" / "stops" / file
    path.write_text(path.read_text().replace(before, after, 1))

    def record(_scenario: Scenario, _into: Path) -> Path:
        raise AssertionError("it ran")

    with pytest.raises(UserError, match=words):
        sealing.seal(tmp_path / "spring", record=record)
    assert (tmp_path / "spring" / "stops" / "truth.toml").is_file()


@pytest.fixture
def benchmark(raf: Raf, scored: Path, tmp_path: Path) -> Path:
    assert raf("lab", "blind", "reveal", scored).status == 0
    done = raf("lab", "export", tmp_path / "benchmark", "--benchmark", scored)
    assert done.status == 0 and done.out.startswith(f"{2} cases"), done.err
    return tmp_path / "benchmark"


def scorer(benchmark: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """As anybody runs it: another Python, and nothing of ours on its path."""
    command = [sys.executable, "-I", "-S", benchmark / "score.py", *words, "-o", benchmark / "marks.json"]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)


def test_the_benchmarks_scorer_marks_as_we_do(scored: Path, benchmark: Path) -> None:
    done = scoring.first_round(scored)
    assert done is not None
    answers = benchmark.parent / "answers"
    for mark in done.marks:
        form = next(form for form in FORMS if form.name == mark.form)
        file = scoring.answer_of(scored, mark.case, form)
        target = answers / file.parent.name / f"spring.{mark.case}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    scorer(benchmark, "marks", answers)
    theirs = {(row["case"], row["form"]): row for row in json.loads((benchmark / "marks.json").read_text())}
    same = (
        "hang",
        "culprits",
        "nobody",
        "suspects",
        "cause",
        "file",
        "line",
        "condition",
        "call",
        "abstained",
    )
    for mark in done.marks:
        row = theirs[f"spring.{mark.case}", mark.form]
        assert {key: row[key] for key in same} == {key: getattr(mark, key) for key in same}, row
        assert row["innocent"] == bool(mark.innocents) and row["failed"] == bool(mark.failed)
    assert any(row["line"] for row in theirs.values())


def test_the_benchmark_asks_any_command_and_shows_it_no_truth(benchmark: Path, tmp_path: Path) -> None:
    tool = tmp_path / "tool.py"
    tool.write_text(
        "import json, os, pathlib, sys\n"
        "seen = sorted(p.name for p in pathlib.Path(sys.argv[1]).parent.rglob('*'))\n"
        "old = {round(p.stat().st_mtime) for p in pathlib.Path(sys.argv[1]).rglob('*.log')} == {1700000000}\n"
        "print(json.dumps({'hang': True, 'culprits': [2], 'seen': seen, 'args': sys.argv[2:], 'old': old}))\n"
    )
    command = f"{sys.executable} {tool} {{evidence}} {{hung:--it-hangs}} --source {{src}}"
    done = scorer(benchmark, "run", command, "--answers", tmp_path / "answers", "--only", "spring.stops")
    right = "1/1 (100%, 21%-100%)"
    assert done.stdout.count(f"| 1 | {right} | {right} |") == len(FORMS), done.stdout
    said = {
        file.parent.name: json.loads(file.read_text())
        for file in (tmp_path / "answers").glob("*/spring.stops.json")
    }
    assert len(said) == len(FORMS)
    for form, answer in said.items():
        assert not {"truth.json", "score.py", "benchmark.json"} & set(answer["seen"])
        assert (
            ("--source" in answer["args"]) == ("trainer.py" in answer["seen"]) == form.endswith("and-sources")
        )
        assert ("--it-hangs" in answer["args"]) == (form == "dumps-only-of-a-hang")
        assert ("dumps" in answer["seen"]) == (not form.startswith(("stacks", "logs")))
        if "logs" in answer["seen"]:
            assert answer["old"] == (form == "copied-without-times")


def test_only_of_a_hang_and_in_one_form_its_owner_says_so(scored: Path) -> None:
    known = sealed.read(scored).content.cases
    said: list[bool] = []

    def ask(_evidence: Path, _src: list[Path], hung: bool) -> Answer:
        said.append(hung)
        return Answer()

    asked = [(one, form) for one in case.cases(scored) for form in FORMS]
    for one, form in asked:
        scoring.answered(one, form, known[one.name], ask=ask)
    told = [(one.name, form.name) for (one, form), hung in zip(asked, said, strict=True) if hung]
    assert told == [("stops", "dumps only of a hang")]


def test_a_set_that_is_not_revealed_makes_no_benchmark(raf: Raf, scored: Path, tmp_path: Path) -> None:
    done = raf("lab", "export", tmp_path / "benchmark", "--benchmark", scored)
    assert done.status == 2 and "not revealed" in done.err


def test_programs_are_linted_when_they_are_scored(scored: Path) -> None:
    told = (scored.parent / "page.md").read_text()
    assert "* errors and warnings tell the line: " in told
    assert "* healthy programs with an error or a warning: " in told


def test_a_set_that_was_scored_before_is_linted_by_itself(raf: Raf, scored: Path) -> None:
    page_file = scored.parent / "page.md"
    checksum = sealed.read(scored).checksum
    before = page_file.read_text()
    done = raf("lab", "blind", "lint", scored, "--page", page_file)
    assert done.status == 0, done.err
    after = page_file.read_text()
    assert after.startswith(before.rstrip()), "blocks are only ever added"
    assert "spring · lint\n\nCommit" in after and "of 2 programs" in after
    assert page.times_told(page_file, checksum) == 1, "linting is no scoring"
    assert not page.told_otherwise(page_file, "spring", checksum)


def test_an_opened_set_is_asked_of_anybody_in_every_form_with_the_marks_of_first_contact(
    raf: Raf, scored: Path, tmp_path: Path
) -> None:
    first = scoring.first_round(scored)
    assert first is not None
    refused = raf("lab", "score", "-a", "raf", "--form", "all", "--set", scored)
    assert refused.status == 2 and "not revealed" in refused.err
    assert raf("lab", "blind", "reveal", scored).status == 0
    program = "import sys; sys.exit('asked with %d' % len(sys.argv))"
    tool = f'{sys.executable} -c "{program}" {{evidence}} --src {{src}}'
    done = raf(
        *(
            "lab",
            "score",
            "-a",
            "raf",
            "-a",
            tool,
            "--form",
            "all",
            "--set",
            scored,
            "-o",
            tmp_path / "marks.json",
        ),
        *("--jobs", "1"),
    )
    assert done.status == 0 and "no first contact" in done.err, done.err
    ours, theirs = json.loads((tmp_path / "marks.json").read_text())
    now = {(one["case"], one["form"]): one for one in ours["marks"]}
    for mark in first.marks:
        again = now[mark.case, mark.form]
        for name in (
            "hang",
            "culprits",
            "suspects",
            "innocents",
            "cause",
            "line",
            "condition",
            "call",
            "false",
        ):
            assert again[name] == getattr(mark, name), (mark.case, mark.form, name)
        assert again["checked"] == mark.checked and again["patch_offered"] == mark.patch_offered
    # A command is given the sources in the form that has them, and else not even the option.
    failed = {one["form"]: one["failed"] for one in theirs["marks"]}
    assert failed[FORMS[0].name] == "asked with 4" and failed["dumps only"] == "asked with 2"


@pytest.mark.parametrize("words", [("--form", "crystal ball"), ("--form", "all", "-a", "raf-dumps")])
def test_what_is_no_form_or_is_one_already_is_refused(raf: Raf, scored: Path, words: tuple[str, ...]) -> None:
    done = raf("lab", "score", "--set", scored, *words)
    assert done.status == 2 and ("no form of evidence" in done.err or "a part of the evidence" in done.err)


@pytest.mark.parametrize(
    ("name", "of_third"),
    [("fr_rank_", "fr_rank_3"), ("r{rank}.json", "r3.json"), ("dump{rank}of4", "dump3of4")],
)
def test_each_rank_has_a_dump_of_its_own(name: str, of_third: str) -> None:
    """As with torch, whose variable for it is what stands in front of the rank."""
    assert Evidence(dump_name=name).dump_of(3) == of_third
