"""What depends on the release of torch, and what is said where that is not known."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.doctor.examinations import environment, examined, only, wrong

import rankandfile
from rankandfile import recorder_names
from rankandfile.doctor.settings.torch_release import in_prefixes
from rankandfile.doctor.table import DUMP, HEARTBEAT, PATH, RING, VARIABLES, parse
from rankandfile.reason.waits.from_logs.settings import SETTINGS


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("2.9", (2, 9)),
        ("2.13.0+cpu", (2, 13)),
        ("v2.4.1", (2, 4)),
        ("2.10.0a0+git1", (2, 10)),
        ("nightly", None),
    ],
)
def test_releases_are_read(text: str, release: tuple[int, int] | None) -> None:
    assert parse(text) == release


def test_defaults_by_release() -> None:
    assert [RING.default(release) for release in ((2, 1), (2, 2), (2, 10), (2, 11))] == [
        None,
        "0",
        "0",
        "2000",
    ]
    assert [DUMP.default(release) for release in ((2, 6), (2, 7))] == ["0", "1"]
    assert [HEARTBEAT.default(release) for release in ((2, 2), (2, 4), (2, 5))] == ["120", "600", "480"]
    assert (PATH.default((2, 6)) or "").startswith("/tmp/")
    assert RING.default(None) is None, "it changed: nothing can be said"


def test_every_row_is_in_order() -> None:
    for variable in VARIABLES:
        starts = [since for since, _ in variable.defaults]
        assert starts == sorted(starts)
        assert variable.source


@pytest.mark.parametrize(
    ("torch", "costs"), [("2.1", "all"), ("2.6", "all"), ("2.10", "all"), ("2.11", None), (None, "part")]
)
def test_an_unset_ring(torch: str | None, costs: str | None) -> None:
    found = wrong(environment(torch, TORCH_FR_BUFFER_SIZE=None), "recorder")
    assert [one.costs for one in found] == ([costs] if costs else [])


@pytest.mark.parametrize(
    ("torch", "name"),
    [("2.6", "TORCH_NCCL_TRACE_BUFFER_SIZE"), ("2.9", "TORCH_NCCL_TRACE_BUFFER_SIZE"),
     ("2.10", "TORCH_FR_BUFFER_SIZE"), (None, "TORCH_NCCL_TRACE_BUFFER_SIZE")],
)  # fmt: skip
def test_the_name_that_this_release_reads_is_advised(torch: str | None, name: str) -> None:
    assert list(only(environment(torch, TORCH_FR_BUFFER_SIZE=None), "recorder").exports) == [name]


def test_a_name_of_a_later_release() -> None:
    found = wrong(environment("2.6"), "names")
    assert {one.variable for one in found} == {"TORCH_FR_BUFFER_SIZE", "TORCH_FR_DUMP_TEMP_FILE"}
    assert {name: value for one in found for name, value in one.exports.items()} == dict.fromkeys(
        ("TORCH_FR_BUFFER_SIZE", "TORCH_FR_DUMP_TEMP_FILE")
    )
    assert "called TORCH_NCCL_TRACE_BUFFER_SIZE" in found[0].fix


def test_the_pipe_needs_the_old_name_up_to_2_9() -> None:
    finding = only(environment("2.9"), "pipe")
    assert finding.exports == {"TORCH_NCCL_TRACE_BUFFER_SIZE": "2000"}
    assert wrong(environment("2.10"), "pipe") == []


def test_two_spellings_two_values() -> None:
    finding = only(environment(TORCH_NCCL_TRACE_BUFFER_SIZE="500"), "names")
    assert finding.exports == {"TORCH_NCCL_TRACE_BUFFER_SIZE": None}
    assert "TORCH_FR_BUFFER_SIZE=2000" in finding.says


def test_a_slip_of_the_pen_and_a_name_nobody_here_knows() -> None:
    slip = environment(TORCH_NCCL_DUMP_ON_TIMEOUTS="1")
    assert only(slip).exports == {"TORCH_NCCL_DUMP_ON_TIMEOUTS": None, "TORCH_NCCL_DUMP_ON_TIMEOUT": "1"}
    strange = environment(TORCH_NCCL_QUANTUM_LEAP="1")
    assert wrong(strange) == []
    assert any("TORCH_NCCL_QUANTUM_LEAP" in note.what for note in strange.notes)


@pytest.mark.parametrize(("torch", "word"), [(None, "not known"), ("2.99", "newer"), ("1.4", "older")])
def test_what_the_table_does_not_know_is_said(torch: str | None, word: str) -> None:
    assert any(note.file == "torch" and word in note.what for note in environment(torch).notes)


@pytest.mark.parametrize(
    ("text", "name", "release"),
    [
        ("docker run -e A=1 pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel torchrun t.py\n", "run.sh", "2.5.1"),
        ("pip install -q 'torch==2.3.0' && torchrun t.py\n", "run.sh", "2.3.0"),
        ("docker run nvcr.io/nvidia/pytorch:24.05-py3 torchrun t.py\n", "run.sh", None),
    ],
)
def test_the_release_is_found_in_the_files(text: str, name: str, release: str | None) -> None:
    assert examined(text, name, torch=None).torch == release


def test_the_release_is_found_in_metadata_without_an_import(tmp_path: Path) -> None:
    (tmp_path / "lib" / "python3.11" / "site-packages" / "torch-2.7.1+cu126.dist-info").mkdir(parents=True)
    assert in_prefixes(["/nowhere", str(tmp_path)]) == ("2.7.1+cu126", f"installed in {tmp_path}")
    assert in_prefixes(["/nowhere", "\0"]) is None


def test_the_names_of_the_recorders_settings_by_release_stand_in_one_place() -> None:
    package = Path(rankandfile.__file__).parent
    by_release = re.compile(
        rf"{recorder_names.OLD_RING}|{recorder_names.OLD_DUMP_FILE}|(?:before|since) torch \d"
    )
    named = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if by_release.search(path.read_text(encoding="utf-8"))
    }
    assert named == {"recorder_names.py"}


def test_where_the_release_is_not_known_the_older_name_is_told_too() -> None:
    spoken = [one.how for one in SETTINGS]
    assert all(name in " ".join(spoken) for name in (recorder_names.OLD_RING, recorder_names.OLD_DUMP_FILE))
