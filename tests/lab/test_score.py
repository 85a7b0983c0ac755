"""The scorer: right, wrong, innocent and abstaining are told apart."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankandfile.lab import truth as truths
from rankandfile.lab.benchmark import scorer
from rankandfile.lab.score.analysers import command, fr_trace_repaired, nvrx, run
from rankandfile.lab.score.answer import Answer, Site
from rankandfile.lab.score.corpus import Score, incidents, score
from rankandfile.lab.score.judge import judge
from rankandfile.lab.score.page import BEGIN, END, worst_lines, write_page
from rankandfile.lab.score.tally import share, tally
from rankandfile.lab.sim.run import simulate
from rankandfile.lab.truth import CohortTruth, DivergenceTruth, LocationTruth, Truth

pytestmark = pytest.mark.slow


def truth(**changes: object) -> Truth:
    fields: dict[str, object] = {
        "name": "one",
        "title": "",
        "program": "",
        "world_size": 4,
        "hang": True,
        "cause": "skipped_collective",
        "family": "",
        "culprits": [2],
        "culprits_from_dumps": [2],
        "decidable_from_dumps": True,
        "cause_from_dumps": "skipped_collective",
        "accepted_causes": ["rank_conditional"],
        "divergence": DivergenceTruth(
            kind="skipped",
            group="7",
            description="mesh_dp",
            seq=41,
            cohorts=[
                CohortTruth(ranks="0,1,3", op="all_reduce", file="trainer.py", line=88),
                CohortTruth(ranks="2", op="barrier", file="lib/save.py", line=9),
            ],
        ),
        "location": LocationTruth(file="trainer.py", line=61, function="step", condition="if stop:"),
    }
    return Truth(**{**fields, **changes})  # type: ignore[arg-type]


def test_all_right() -> None:
    answer = Answer(
        hang=True,
        culprits=[2],
        cause="skipped_collective",
        group="mesh_dp [0-3]",
        seq=41,
        location=Site("/job/trainer.py", 60),
        condition_line=61,
    )
    marks = judge(truth(), answer)
    assert (marks.hang_right, marks.culprits_right, marks.cause_right, marks.divergence_right) == (True,) * 4
    assert (marks.location_right, marks.condition_right) == (True, True)
    assert marks.innocents_blamed == []


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (Answer(hang=False), "hang_right"),
        (Answer(hang=True, culprits=[2, 3]), "culprits_right"),
        (Answer(hang=True, culprits=[]), "culprits_right"),
        (Answer(hang=True, culprits=[2], cause="order_inversion"), "cause_right"),
        (Answer(hang=True, culprits=[2], group="mesh_dp", seq=42), "divergence_right"),
        (Answer(hang=True, culprits=[2], group="other", seq=41), "divergence_right"),
        (Answer(hang=True, culprits=[2], location=Site("/job/other.py", 61)), "location_right"),
        (Answer(hang=True, culprits=[2], location=Site("/job/trainer.py", 62)), "condition_right"),
    ],
)
def test_what_is_wrong_is_marked_wrong(answer: Answer, wrong: str) -> None:
    assert getattr(judge(truth(), answer), wrong) is False


def test_innocents_are_counted_also_beside_the_culprit_and_in_healthy_jobs() -> None:
    assert judge(truth(), Answer(hang=True, culprits=[1, 2])).innocents_blamed == [1]
    healthy = truth(hang=False, culprits=[], culprits_from_dumps=[])
    assert judge(healthy, Answer(hang=True, culprits=[3])).innocents_blamed == [3]


def test_an_accepted_cause_counts_and_call_sites_stand_in_for_a_number() -> None:
    sites = [Site("/x/y/trainer.py", 88), Site("/x/lib/save.py", 9)]
    marks = judge(truth(), Answer(hang=True, culprits=[2], cause="rank_conditional", seq=7, sites=sites))
    assert marks.cause_right is True
    assert marks.divergence_right is True


def test_abstaining_is_right_only_where_the_dumps_cannot_tell() -> None:
    silent = Answer(hang=True)
    assert judge(truth(), silent).abstained_rightly is False
    untellable = truth(culprits_from_dumps=[], decidable_from_dumps=False)
    marks = judge(untellable, silent)
    assert marks.abstained_rightly is True
    assert marks.culprits_right is True
    assert marks.cause_right is None


def test_a_crash_is_neither_right_nor_an_abstention() -> None:
    marks = judge(truth(culprits_from_dumps=[]), Answer(failed="KeyError"))
    assert marks.culprits_right is False
    assert marks.abstained is False


@given(st.lists(st.sampled_from([True, False, None])))
def test_an_interval_holds_its_share(values: list[bool | None]) -> None:
    found = share(values)
    assert found.asked == sum(value is not None for value in values)
    if found.asked:
        assert 0 <= found.low <= found.right / found.asked <= found.high <= 1


def test_the_last_row_is_all_of_it() -> None:
    answer = Answer(hang=True, culprits=[1])
    rows = tally([judge(truth(), answer), judge(truth(cause="killed"), answer)])
    assert [row.of for row in rows] == ["killed", "skipped_collective", "all"]
    assert rows[-1].incidents == 2
    assert rows[-1].innocents == 2


def test_what_was_taken_away_has_a_row_and_a_block_of_its_own(tmp_path: Path) -> None:
    taken = ("wrapped_ring", "no_frames", "no_frames")
    marks = [judge(truth(removed=[what]), Answer(hang=True, culprits=[2])) for what in taken]
    rows = tally(marks)
    assert [(row.of, row.incidents) for row in rows] == [("no_frames", 2), ("wrapped_ring", 1), ("all", 3)]
    page = tmp_path / "page.md"
    write_page(page, [Score(analyser="raf-dumps", rows=rows, marks=marks)], len(marks))
    text = page.read_text()
    assert text.startswith("<!-- variants: begin -->") and "| taken away | incidents |" in text


@pytest.mark.lab
def test_any_command_can_be_scored_and_tables_are_written_between_markers(tmp_path: Path) -> None:
    simulate("peers-other-op", tmp_path / "set" / "peers-other-op")
    found = incidents([tmp_path / "set"])
    assert [path.name for path in found] == ["peers-other-op"]
    command = f"{sys.executable} -m rankandfile diagnose {{evidence}}/dumps --format json"
    ours, other = score(["raf-dumps", command], found)
    assert other.marks[0].said_culprits == ours.marks[0].said_culprits == truths.read(found[0]).culprits
    (in_a_worker,) = score(["raf-dumps"], found, jobs=2, in_process=True)
    assert in_a_worker.marks[0].said_culprits == ours.marks[0].said_culprits
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{BEGIN}\nold\n{END}\n\nafter\n")
    write_page(page, [ours], len(found))
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "### raf-dumps" in text


def test_with_the_source_is_held_against_without_and_alone_it_is_asked_for_places(tmp_path: Path) -> None:
    marks = [judge(truth(), Answer(hang=True, culprits=[2]), dumps_only=False)]
    with_source, without = (
        Score(analyser=name, rows=tally(marks), marks=marks) for name in ("raf-src", "raf")
    )
    page = tmp_path / "page.md"
    write_page(page, [with_source], 1)
    places = page.read_text()
    write_page(page, [without, with_source], 1)
    text = page.read_text()
    assert text.startswith(places.rstrip())
    assert text.count("### raf-src") == 2
    beside = text[text.index("<!-- everything: begin") :]
    assert beside.index("### raf\n") < beside.index("### raf-src") < beside.index("<!-- everything: end")
    assert "file and function" not in beside


def test_who_is_to_blame_although_nothing_hung_is_no_innocent() -> None:
    broke_off = truth(hang=False, cause="killed", culprits=[1])
    assert judge(broke_off, Answer(hang=False, culprits=[1])).innocents_blamed == []
    assert judge(broke_off, Answer(hang=False, culprits=[1, 3])).innocents_blamed == [3]


def test_a_command_that_prints_nonsense_failed(tmp_path: Path) -> None:
    answer = command(f"{sys.executable} -c print(1)")(tmp_path)
    assert answer.failed
    assert list(worst_lines([judge(truth(), answer)]))


def test_a_command_that_never_ends_is_ended() -> None:
    done = run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.5)
    assert done.status is None
    assert done.seconds < 20


@pytest.mark.lab
@pytest.mark.torch
def test_torch_s_analyser_is_scored_out_of_the_box(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    incident = simulate("peers-rank-never-joins", tmp_path / "incident")
    answer = fr_trace_repaired(incident)
    assert answer.failed is None
    assert answer.culprits == truths.read(incident).culprits


#: What NVIDIA's analyser writes at its end: a table of what is missing, or of what is complete, by way of its log.
NVRX_TABLE = """\
import logging, sys
assert sys.argv[1] == "--fr-path" and sys.argv[3:] == ["--pattern", "*"], sys.argv
logging.basicConfig(level=logging.INFO)
for line in (
    "PGID   | Process Group Desc        | Op Type    | Size             | Dtype    | {what} Ranks",
    "0      | default_pg,0              | gloo:all_reduce | 8             | Float    | {ranks}",
):
    logging.info(line)
"""


@pytest.mark.parametrize(("what", "culprits"), [("Missing", [1, 3]), ("Completed", [])])
def test_nvidias_analyser_blames_whom_it_misses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str, culprits: list[int]
) -> None:
    """A stand-in prints the table: what is tested is how it is read."""
    program = NVRX_TABLE.format(what=what, ranks="1,3")
    monkeypatch.setattr("rankandfile.lab.score.analysers._NVRX", program)
    (tmp_path / "evidence" / "dumps").mkdir(parents=True)
    said = nvrx(tmp_path)
    assert said.failed is None and said.culprits == culprits
    assert said.hang is bool(culprits) and said.group == ("default_pg" if culprits else None)


def test_nvidias_analyser_is_no_answer_where_it_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "evidence" / "dumps").mkdir(parents=True)
    said = nvrx(tmp_path)
    assert said.failed and said.hang is None and said.culprits == []


@pytest.mark.parametrize("hung", [True, False])
def test_a_word_for_jobs_that_are_said_to_hang_is_left_out_of_others(hung: bool) -> None:
    words = scorer.words_of("tool {evidence} {hung:--hung} --src {src}", Path("job"), None, hung)
    assert words == ["tool", "job", *["--hung"] * hung]
