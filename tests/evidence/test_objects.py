"""Evidence in object stores is evidence like any other, and no store is trusted to end, or to name its objects well."""

from __future__ import annotations

import io
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli.raf_runs import Raf, in_process
from support.evidence.stores import Bucket, bucket, store
from support.places import EARLY_STOP

import rankandfile
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.objects.at_hand import at_hand
from rankandfile.model.errors import UserError

pytestmark = pytest.mark.slow
EVIDENCE = EARLY_STOP / "evidence"


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Bucket, dict[str, str]]]:
    with bucket() as (found, env):
        yield found, dict(env)


@pytest.fixture
def jobs(served: tuple[Bucket, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Bucket:
    for name, value in served[1].items():
        monkeypatch.setenv(name, value)
    return served[0]


@pytest.fixture
def raf(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Raf:
    return in_process(monkeypatch, capfd)


def archive(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        tar.add(folder, "evidence")
    return packed.getvalue()


def copied(folder: Path, into: Path, written: float) -> Path:
    """As an upload leaves it: all files of one time."""
    shutil.copytree(folder, into)
    for path in into.rglob("*"):
        os.utime(path, (written, written))
    return into


def test_a_prefix_is_a_folder(jobs: Bucket, tmp_path: Path) -> None:
    address = jobs.upload(EVIDENCE, "early")
    there = rankandfile.diagnose(address)
    head = jobs.client.list_objects_v2(Bucket="jobs", Prefix="early/")["Contents"]
    here = rankandfile.diagnose(
        copied(EVIDENCE, tmp_path / "early", max(one["LastModified"].timestamp() for one in head))
    )
    said = there.to_json().decode()
    assert said.replace("s3://jobs/early", str(tmp_path / "early")) == here.to_json().decode()
    assert there.culprits == (2,)


def test_one_object_is_a_file_and_may_be_an_archive(jobs: Bucket) -> None:
    jobs.put("packed/job.tar.gz", archive(EVIDENCE))
    found = rankandfile.diagnose("s3://jobs/packed/job.tar.gz")
    assert found.culprits == (2,)
    assert "s3://jobs/packed/job.tar.gz!/evidence/" in found.to_json().decode()


def test_a_packed_case_and_a_case_directory_are_read_from_there(
    jobs: Bucket, raf: Raf, tmp_path: Path
) -> None:
    assert raf("case", "pack", EVIDENCE, "-o", tmp_path / "job.zip").status == 0
    assert raf("case", "convert", EVIDENCE, "-o", tmp_path / "case").status == 0
    jobs.put("packs/job.zip", (tmp_path / "job.zip").read_bytes())
    jobs.upload(tmp_path / "case", "case")
    for address in ("s3://jobs/packs/job.zip", "s3://jobs/case"):
        assert rankandfile.load(address).calls.height == rankandfile.load(EVIDENCE).calls.height


def test_condensing_names_files_as_below_the_prefix(jobs: Bucket, raf: Raf, tmp_path: Path) -> None:
    address = jobs.upload(EVIDENCE, "nodes/early")
    done = raf("condense", address, "-o", tmp_path / "node.case")
    assert done.status == 0, done.err
    with tarfile.open(tmp_path / "node.case") as tar:
        names = tar.getnames()
    assert names and all(name.startswith("early/") for name in names)
    assert rankandfile.diagnose(tmp_path / "node.case").culprits == (2,)


def test_other_commands_take_an_address_too(jobs: Bucket, raf: Raf) -> None:
    done = raf("show", "calls", jobs.upload(EVIDENCE, "shown"), "--rank", "2", "-n", "1")
    assert done.status == 0, done.err
    assert "default_pg" in done.out


def test_the_card_names_the_address(jobs: Bucket, raf: Raf) -> None:
    done = raf(jobs.upload(EVIDENCE, "card"))
    assert done.status == 1, done.err
    assert "raf show evidence s3://jobs/card" in done.out
    assert "/tmp/" not in done.out


@pytest.mark.parametrize(
    "address, words",
    [
        ("s3://no-such-bucket/run", "the specified bucket does not exist"),
        ("s3://jobs/none", "no such object, and none below it"),
        ("nostore://jobs/none", "is not on this machine"),
    ],
)
def test_what_is_not_there_is_one_line(jobs: Bucket, raf: Raf, address: str, words: str) -> None:
    done = raf("diagnose", address)
    assert done.status == 2
    assert address in done.err and words in done.err.lower()
    assert len(done.err.strip().splitlines()) == 1


def test_without_credentials_it_is_one_line(jobs: Bucket, raf: Raf, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    done = raf("diagnose", "s3://jobs/none")
    assert (done.status, len(done.err.strip().splitlines())) == (2, 1)
    assert "credentials" in done.err


def test_without_the_extra_it_says_how_to_copy_and_what_to_install(
    raf: Raf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    done = raf("diagnose", "s3://jobs/run")
    assert done.status == 2
    assert "copy it first: aws s3 cp --recursive s3://jobs/run dumps/" in done.err
    assert "or pip install 'rankandfile[objects]'" in done.err


def test_source_is_not_read_from_a_store(raf: Raf) -> None:
    done = raf("diagnose", EVIDENCE, "--src", "s3://jobs/src")
    assert done.status == 2 and "s3://jobs/src is not on this machine" in done.err


def test_an_object_that_cannot_be_read_is_a_note(jobs: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankandfile.evidence.objects.store import Store

    address = jobs.upload(EVIDENCE, "half")
    copy = Store.copy

    def refuses(self: Store, key: str, *rest: object) -> None:
        if key.endswith(("rank_1.json", "_1")):
            jobs.client.delete_object(Bucket="jobs", Key=key.partition("/")[2])
        copy(self, key, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "copy", refuses)
    found = rankandfile.diagnose(address)
    gone = [note for note in found.notes if "it is not there" in note.what]
    assert gone and all(note.file.startswith("s3://jobs/half/") for note in gone)
    assert found.culprits == (2,)


HOSTILE = {
    "job/rank_0.json": b"{}",
    "job/../../../etc/cron.d/x": b"* * * * *",
    "job/a//b": b"x",
    "job/a": b"x",
    "job/a/c": b"x",
    f"job/{'n' * 300}": b"x",
    "job/nul\0": b"x",
    "job/\x1b[31mred": b"x",
    "job/.git/config": b"x",
}


def test_no_name_leads_out_and_each_refusal_is_a_note() -> None:
    store("hostile", HOSTILE)
    with at_hand([Path("hostile://job")], Limits()) as found:
        (top,) = found.paths
        there = sorted(str(path.relative_to(top)) for path in top.rglob("*") if path.is_file())
        assert there == ["\x1b[31mred", "a", "rank_0.json"]
        assert (top / "rank_0.json").read_bytes() == b"{}", "as long as the listing said"
        assert not [path for path in top.parents[1].rglob("*") if not path.is_relative_to(top.parent)]
    notes = {note.file: note.what for note in found.notes}
    assert sum("no file can have its name" in what for what in notes.values()) == 3
    assert any("2 more members like these" in what for what in notes.values())
    assert not any("\x1b" in name for name in notes)
    assert not top.exists()


def test_limits_hold_for_objects() -> None:
    store("large", {f"job/rank_{n}": b"x" * 100 * n for n in range(10)})
    with at_hand([Path("large://job")], Limits(files=5)) as found:
        assert len(list(found.paths[0].iterdir())) == 5
        assert any("more than 5 files" in note.what for note in found.notes)
    with at_hand([Path("large://job")], Limits(file_bytes=250)) as found:
        assert len(list(found.paths[0].iterdir())) == 3
    with at_hand([Path("large://job")], Limits(expanded_bytes=1000)) as found:
        assert sum(path.stat().st_size for path in found.paths[0].iterdir()) <= 1000
        assert any("in all" in note.what for note in found.notes)


def test_a_listing_without_end_is_given_up() -> None:
    store("endless", {}, endless=True)
    began = time.monotonic()
    for limits, words in (
        (Limits(memory_bytes=400 << 20), "more below it than can be listed"),
        (Limits(seconds=0.5), "time for reading is over"),
    ):
        with pytest.raises(UserError, match=words), at_hand([Path("endless://job")], limits):
            pass
    assert time.monotonic() - began < 60


def test_an_object_that_is_named_twice_is_read_once() -> None:
    store("twice", {"job/rank_0": b"x", "job/rank_1": b"y"})
    with at_hand([Path("twice://job"), Path("twice://job")], Limits()) as found:
        assert [len(list(path.iterdir())) for path in found.paths] == [2, 0]


def test_of_many_alike_most_are_left_for_whoever_decodes_them() -> None:
    store("many", {f"job/rank_{n}": b"x" * n for n in range(40)})
    with at_hand([Path("many://job")], Limits(), leave=True) as found:
        (top,) = found.paths
        assert len(found.left) == 24
        assert all(path.stat().st_size == int(path.name.partition("_")[2]) for path in top.iterdir())
        assert found.left[str(top / "rank_39")].key == "job/rank_39"


def test_archives_among_many_alike_are_not_left(tmp_path: Path) -> None:
    packed = archive(EVIDENCE)
    store("packed", {f"job/node_{n}": packed for n in range(20)})
    with at_hand([Path("packed://job")], Limits(), leave=True) as found:
        assert not found.left
        assert (found.paths[0] / "node_19").read_bytes() == packed
