"""`raf lab` as a person uses it: list, make one hang, make many, score."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from support.cli.raf_runs import Raf

from rankandfile.cli import lab_incidents
from rankandfile.cli.errors import UserError
from rankandfile.lab import catalog, truth, virtual_hosts
from rankandfile.lab.score.ablation import heuristics
from rankandfile.lab.variants import VARIANTS

pytestmark = pytest.mark.slow


def listed(raf: Raf, *arguments: object) -> pl.DataFrame:
    done = raf("lab", "list", *arguments, "--format", "json")
    assert done.status == 0, done.err
    return pl.read_json(io.StringIO(done.out))


def test_the_list_has_every_scenario_once_with_its_ranks(raf: Raf) -> None:
    frame = listed(raf)
    assert not frame["name"].is_duplicated().any()
    assert frame["ranks"].min() == 2
    real = frame.filter(pl.col("kind") == "real")
    assert dict(zip(real["name"], real["ranks"], strict=True)) == {
        s.name: s.world_size for s in catalog.scenarios()
    }


def test_the_list_by_cause(raf: Raf) -> None:
    everything = listed(raf)
    some = listed(raf, "--cause", "peer_unreachable")
    assert some.equals(everything.filter(pl.col("cause") == "peer_unreachable"))
    assert set(some["kind"]) == {"real", "simulated"}
    assert "root and iproute2" in set(some["needs"])


def test_an_unknown_cause_is_answered_with_the_known_ones(raf: Raf) -> None:
    done = raf("lab", "list", "--cause", "gremlins")
    assert done.status == 2
    assert "order_inversion" in done.err


def test_a_simulated_hang_says_where_it_lies_and_what_to_type_next(raf: Raf, tmp_path: Path) -> None:
    done = raf("lab", "run", "peers-other-op", "--keep", tmp_path)
    assert done.status == 0, done.err
    lines = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    known = truth.read(tmp_path / "peers-other-op")
    assert lines["job"] == f"{known.world_size} ranks, hung"
    assert known.title not in done.out
    command = lines["next"].split()
    assert raf(*command[1:]).status == 1
    assert raf(*lines["then"].split()[1:]).status == 0


def test_a_twin_is_no_hang(raf: Raf, tmp_path: Path) -> None:
    done = raf("lab", "run", "peers-other-op", "--twin", "--keep", tmp_path)
    assert "no hang" in done.out
    assert raf("diagnose", tmp_path / "peers-other-op.twin" / "evidence").status == 0


def test_an_incident_is_replaced_but_nothing_else_is(raf: Raf, tmp_path: Path) -> None:
    assert raf("lab", "run", "peers-other-op", "--keep", tmp_path).status == 0
    assert raf("lab", "run", "peers-other-op", "--keep", tmp_path).status == 0
    notes = tmp_path / "peers-other-size" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine\n")
    done = raf("lab", "run", "peers-other-size", "--keep", tmp_path)
    assert done.status == 2
    assert "something else" in done.err
    assert notes.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["early_stop"], "perhaps early_stop_local?"),
        (["early_stop_local", "--ranks", "8"], "its number of ranks is part of it"),
        (["peers-other-op", "--at", "/workspace"], "is simulated"),
        (["healthy-3d", "--ranks", "3"], "multiples of 8"),
        (["peers-other-op", "--keep", "{file}"], "cannot write"),
    ],
    ids=["near name", "ranks of a real one", "place of a simulated one", "odd ranks", "a file in the way"],
)
def test_mistakes_are_named(raf: Raf, tmp_path: Path, arguments: list[str], words: str) -> None:
    file = tmp_path / "file"
    file.touch()
    done = raf("lab", "run", *(a.format(file=file) for a in arguments))
    assert done.status == 2
    assert words in done.err and len(done.err.splitlines()) == 1


def test_without_torch_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from rankandfile.cli.main import main; "
        f"sys.argv = ['raf', 'lab', 'run', 'early_stop_local', '--keep', {str(tmp_path)!r}]; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "raf: early_stop_local: real scenarios run torch processes, and torch is not installed: pip install torch"
    ]
    assert not list(tmp_path.iterdir())


def test_a_scenario_that_cannot_run_here_says_why(
    raf: Raf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(virtual_hosts, "missing", lambda: "Operation not permitted")
    done = raf("lab", "run", "switch_dies", "--keep", tmp_path)
    assert done.status == 2
    assert "needs root and iproute2, for virtual hosts: Operation not permitted" in done.err
    done = raf("lab", "export", tmp_path, "--only", "switch_dies")
    assert done.status == 0
    assert "skipped switch_dies" in done.err
    assert not list(tmp_path.iterdir())


def test_an_export_holds_incidents_twins_and_variants_and_can_be_scored(raf: Raf, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    done = raf("lab", "export", corpus, "--no-real", "--only", "peers-other-op", "--variants")
    assert done.status == 0, done.err
    made = {path.name: truth.read(path) for path in corpus.glob("*/*")}
    names = {"peers-other-op", "peers-other-op.twin"}
    assert set(made) == names | {f"{name}~{variant}" for name in names for variant in VARIANTS}
    assert {known.hang for name, known in made.items() if ".twin" in name} == {False}
    assert done.out.startswith(f"{len(made)} incidents in ")
    marks = tmp_path / "marks.json"
    assert raf("lab", "score", "-a", "raf-dumps", "--set", corpus / "sim", "-o", marks).status == 0
    (score,) = json.loads(marks.read_text())
    assert {mark["incident"] for mark in score["marks"]} == names


def test_a_scenario_that_fails_is_named_and_the_others_go_on(
    raf: Raf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(name: str, into: Path, *, twin: bool, **more: object) -> Path:
        if not twin:
            raise UserError(f"{name}: the job finished")
        return lab_incidents.make(name, into, twin=twin)

    monkeypatch.setattr("rankandfile.cli.commands.lab.export.make", make)
    done = raf("lab", "export", tmp_path / "c", "--no-real", "--only", "peers-other-op")
    assert done.status == 2
    assert "1 of 2 runs failed: peers-other-op" in done.err
    assert [path.name for path in (tmp_path / "c" / "sim").iterdir()] == ["peers-other-op.twin"]


@pytest.mark.lab
def test_answers_are_kept_and_held_against_others(raf: Raf, tmp_path: Path) -> None:
    made = raf("lab", "export", tmp_path / "c", "--no-real", "--no-twins", "--only", "peers-other-op")
    assert made.status == 0, made.err
    done = raf("lab", "answers", tmp_path / "c", "-o", tmp_path / "one", "--jobs", "1")
    assert done.status == 0 and "6 answers to 1 incidents" in done.out
    done = raf(
        "lab", "answers", tmp_path / "c", "-o", tmp_path / "two", "--against", tmp_path / "one", "--jobs", "1"
    )
    assert done.status == 0 and "0 of 6 answers differ" in done.out
    (tmp_path / "two" / "peers-other-op" / "raf.json").write_text('{"schema": "other"}')
    done = raf("lab", "answers", "-o", tmp_path / "two", "--against", tmp_path / "one", "--most", "9")
    assert done.status == 1
    assert "schema: rankandfile.diagnosis/1 -> other" in done.out and "1 of 6 answers differ" in done.out
    assert raf("lab", "answers", "-o", tmp_path / "two", "--against", tmp_path / "none").status == 2


def test_each_heuristic_has_a_row_and_an_unknown_one_is_refused(raf: Raf, tmp_path: Path) -> None:
    raf("lab", "export", tmp_path / "c", "--no-real", "--no-twins", "--only", "peers-other-op")
    done = raf("lab", "ablate", tmp_path / "c", "--format", "json", "--jobs", "1")
    assert done.status == 0, done.err
    rows = json.loads(done.out)
    assert {row["heuristic"] for row in rows} == {rule.name for rule in heuristics()}
    refused = raf("lab", "ablate", tmp_path / "c", "--only", "gremlins")
    assert refused.status == 2 and "no heuristic 'gremlins'" in refused.err


def test_nothing_to_export_is_an_error(raf: Raf, tmp_path: Path) -> None:
    assert raf("lab", "export", tmp_path / "c", "--only", "gremlins").status == 2


@pytest.mark.lab
def test_another_analyser_is_a_command_that_prints_a_diagnosis(raf: Raf, tmp_path: Path) -> None:
    assert raf("lab", "run", "peers-other-op", "--keep", tmp_path).status == 0
    command = f"{sys.executable} -m rankandfile diagnose {{evidence}} --format json"
    both = tmp_path / "marks.json"
    done = raf("lab", "score", "-a", "raf", "-a", command, "--set", tmp_path, "-o", both)
    assert done.status == 0, done.err
    ours, theirs = json.loads(both.read_text())
    assert [m | {"seconds": 0, "peak_mib": 0} for m in ours["marks"]] == [
        m | {"seconds": 0, "peak_mib": 0} for m in theirs["marks"]
    ]


@pytest.mark.parametrize("analyser", ["gremlins", "ls /"])
def test_what_is_no_analyser_is_refused_before_it_runs(raf: Raf, tmp_path: Path, analyser: str) -> None:
    assert raf("lab", "run", "peers-other-op", "--keep", tmp_path).status == 0
    done = raf("lab", "score", "-a", analyser, "--set", tmp_path)
    assert done.status == 2 and not done.out


def test_a_spelling_that_two_scenarios_share_means_the_one_of_this_very_name() -> None:
    from rankandfile.cli.lab_incidents import kind_of

    assert kind_of("two_faults") == "real" and kind_of("two-faults") == "simulated"
    assert kind_of("two-rank-hang") == "real"
