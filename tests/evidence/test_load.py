"""From paths to a case, the whole way: walked, decoded in processes, given ranks, assembled; nothing raises."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest
from support.evidence.loading import LoadFiles
from support.evidence.sample_dumps import as_recorded, job, one_rank, plain, recorded

from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.load import load
from rankandfile.evidence.tables import case_dir
from rankandfile.lab.flight_writer import write_pickle
from rankandfile.lab.flight_writer_json import write_json

pytestmark = pytest.mark.slow

PICKLES = {f"nccl_trace_rank_{rank}": write_pickle(dump) for rank, dump in job().items()}


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    path = tmp_path / "spool"
    path.mkdir(exist_ok=True)
    return path


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_folder_of_dumps(jobs: int, load_files: LoadFiles) -> None:
    case = load_files(PICKLES, jobs)
    assert case.notes == ()
    assert (case.world_size, case.ranks_seen) == (4, [0, 1, 2, 3])
    for rank, dump in job().items():
        number = case.dumps["rank"].to_list().index(rank)
        assert as_recorded(case, number) == recorded(plain(dump)["entries"])


@pytest.mark.parametrize("protocol", [0, 1])
def test_dumps_in_pythons_oldest_pickles(protocol: int, load_files: LoadFiles) -> None:
    """The first of them is text, and no log."""
    old = {name: pickle.dumps(pickle.loads(data), protocol) for name, data in PICKLES.items()}
    case = load_files(old, 1)
    assert case.notes == ()
    assert case.calls.equals(load_files(PICKLES, 1).calls)


def test_the_number_of_processes_changes_nothing(load_files: LoadFiles) -> None:
    one, four = load_files(PICKLES, 1), load_files(PICKLES, 4)
    for name, table in one.tables().items():
        # The files are written anew: only their own times may differ.
        drop = ["written_ns"] if name == "dumps" else []
        assert table.drop(drop).equals(four.tables()[name].drop(drop)), name


def archive_tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def archive_zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_every_wrapping_holds_the_same_calls(load_files: LoadFiles, tmp_path: Path, spool: Path) -> None:
    plainly = load_files(PICKLES)
    wrapped = {
        "gz": {f"{name}.gz": gzip.compress(data) for name, data in PICKLES.items()},
        "tar": {"dumps.tar.gz": archive_tar(PICKLES)},
        "zip": {"dumps.zip": archive_zip({f"node/{name}": data for name, data in PICKLES.items()})},
        "nested": {"all.zip": archive_zip({"inner.tar.gz": archive_tar(PICKLES)})},
    }
    for form, files in wrapped.items():
        folder, room = tmp_path / form, spool / form
        folder.mkdir()
        room.mkdir()
        for name, data in files.items():
            (folder / name).write_bytes(data)
        case = load([folder], room, jobs=1)
        for table in ("calls", "groups", "stacks", "frames", "shapes", "statuses"):
            assert case.tables()[table].equals(plainly.tables()[table]), (form, table)


def test_a_log_is_read_in_any_wrapping(load_files: LoadFiles) -> None:
    line = b"[rank3]: RuntimeError: CUDA error: an illegal memory access was encountered\n"
    packed = gzip.compress(line)
    node = archive_tar({"logs/b.log": line, "c.log.gz": packed})
    case = load_files({"a.log": line, "d.log.gz": packed, "node.tar.gz": node})
    found = [(row["kind"], row["rank"], row["line"]) for row in case.events.iter_rows(named=True)]
    assert found == [("cuda_error", 3, 1)] * 4


def test_a_source_names_the_archive_and_the_member(load_files: LoadFiles) -> None:
    case = load_files({"dumps.zip": archive_zip(PICKLES)})
    assert all("dumps.zip!/nccl_trace_rank_" in source for source in case.dumps["source"].to_list())
    found = case.evidence("D1#2")
    assert found is not None
    assert found.source.endswith(f"dumps.zip!/nccl_trace_rank_{case.dumps['rank'][1]}")


def test_files_of_other_kinds_do_not_disturb(load_files: LoadFiles) -> None:
    others = {
        "train.log": b"step 1 loss 0.5\n" * 100,
        "stderr": b"",
        "model.pt": b"PK\3\4" + bytes(100),
        "config.json": b'{"lr": 0.1}',
        "noise.bin": bytes(range(256)) * 8,
        ".hidden": b"x",
    }
    case = load_files(PICKLES | others)
    assert case.ranks_seen == [0, 1, 2, 3]
    assert case.calls.height == 24


def test_bad_files_are_notes_and_the_rest_counts(load_files: LoadFiles) -> None:
    bad = {
        "nccl_trace_rank_4": b"",
        "nccl_trace_rank_5": PICKLES["nccl_trace_rank_0"][:87],
        "nccl_trace_rank_6": b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.",
        "nccl_trace_rank_7": b"\x80\x02}(X\x01\x00\x00\x00ar\xff\xff\xff\x7fu.",
        "nccl_trace_rank_8.json": b'{"entries": [{"record_id": 1,',
        "broken.zip": archive_zip(PICKLES)[:200],
    }
    case = load_files(PICKLES | bad)
    assert case.calls["rank"].unique().sort().to_list() == [0, 1, 2, 3]
    for name in bad:
        assert any(name in note.file for note in case.notes), name
    assert all("\n" not in str(note) for note in case.notes)


@pytest.mark.parametrize(
    "name",
    ["nccl_trace_rank_99999999999", "nccl_trace_rank_4294967295", "rank_" + "9" * 200],
)
def test_a_rank_that_no_job_has(name: str, load_files: LoadFiles) -> None:
    """A name is a stranger's too; it may not end the loading, nor make a job of billions."""
    case = load_files(PICKLES | {name: write_pickle(one_rank(0))})
    assert case.ranks_seen[:4] == [0, 1, 2, 3]
    assert case.world_size == 4


def test_one_file_alone(spool: Path, tmp_path: Path) -> None:
    path = tmp_path / "nccl_trace_rank_2"
    path.write_bytes(PICKLES["nccl_trace_rank_2"])
    case = load([path], spool, jobs=1)
    assert (case.ranks_seen, case.world_size) == ([2], 4)


def test_nothing_at_all(spool: Path, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    assert load([tmp_path / "none"], spool).calls.height == 0
    missing = load([tmp_path / "nowhere"], spool)
    assert missing.calls.height == 0
    assert any("nowhere" in note.file for note in missing.notes)


def test_a_file_beyond_the_limit_is_one_note(spool: Path, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for name, data in PICKLES.items():
        (folder / name).write_bytes(data)
    huge = folder / "nccl_trace_rank_9"
    huge.write_bytes(b"\x80\x02}(")
    os.truncate(huge, 1 << 30)
    case = load([folder], spool, jobs=1, limits=Limits(dump_bytes=1 << 20))
    assert case.ranks_seen == [0, 1, 2, 3]
    note = next(note for note in case.notes if note.file.endswith("rank_9"))
    assert "1,073,741,824 bytes, limit 1,048,576" in note.what


def test_progress_is_reported_for_every_file(spool: Path, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    for name, data in PICKLES.items():
        (folder / name).write_bytes(data)
    seen: list[tuple[int, int]] = []
    load([folder], spool, jobs=2, on_progress=lambda done, all_: seen.append((done, all_)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_an_answer_of_several_ranks_is_several_dumps(load_files: LoadFiles) -> None:
    answers = b",".join(b'"%d":%s' % (rank, write_json(dump)) for rank, dump in job().items())
    case = load_files({"fr_trace_json.json": b"{" + answers + b"}"})
    assert case.ranks_seen == [0, 1, 2, 3]
    assert case.dumps["rank_from"].unique().to_list() == ["content"]
    assert case.calls.height == 24


def test_a_case_directory_of_another_version_is_one_line(
    spool: Path, tmp_path: Path, load_files: LoadFiles
) -> None:
    directory = tmp_path / "case"
    case_dir.write(load_files(PICKLES), directory)
    manifest = directory / case_dir.MANIFEST
    manifest.write_text(manifest.read_text().replace("rankandfile.case/1", "rankandfile.case/9"))
    with pytest.raises(case_dir.NotACase, match=r"rankandfile\.case/9"):
        load([directory], spool)
