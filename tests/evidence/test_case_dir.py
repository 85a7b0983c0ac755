"""A case as a directory: what is written is what is read, and a stranger's directory is one clear line."""

from __future__ import annotations

from pathlib import Path

import msgspec
import polars as pl
import pytest
from support.evidence.sample_dumps import case_of, job, one_rank

from rankandfile.evidence.load import load
from rankandfile.evidence.tables import case_dir
from rankandfile.evidence.tables.assemble import assemble
from rankandfile.model.case import Case
from rankandfile.model.ledger import Note
from rankandfile.model.tables import TABLES

NOTE = Note(file="rank_3", where="offset 87", what="the file ends early")


@pytest.fixture
def written(tmp_path: Path) -> Path:
    case_dir.write(case_of(job()).with_notes(NOTE), tmp_path / "a" / "case")
    return tmp_path / "a" / "case"


def assert_same(one: Case, other: Case) -> None:
    for name, table in one.tables().items():
        assert table.equals(other.tables()[name]), name
        assert table.schema == other.tables()[name].schema, name
    assert (one.notes, one.world_size) == (other.notes, other.world_size)


def test_what_is_written_is_what_is_read(written: Path) -> None:
    assert case_dir.is_case_dir(written)
    assert_same(case_dir.read(written), case_of(job()).with_notes(NOTE))


@pytest.mark.parametrize(
    "case", [assemble([]), case_of({0: one_rank(0, calls=0)})], ids=["nothing", "no call"]
)
def test_an_empty_case_survives(case: Case, tmp_path: Path) -> None:
    case_dir.write(case, tmp_path)
    assert_same(case_dir.read(tmp_path), case)


def test_evidence_resolves_after_reading(written: Path) -> None:
    before, after = case_of(job()).evidence("D2#4"), case_dir.read(written).evidence("D2#4")
    assert before == after is not None


def test_writing_over_a_case_replaces_it(written: Path) -> None:
    small = case_of({0: one_rank(0)})
    case_dir.write(small, written)
    assert_same(case_dir.read(written), small)


def test_other_tools_can_read_the_tables(written: Path) -> None:
    joined = pl.read_parquet(written / "calls.parquet").join(
        pl.read_parquet(written / "frames.parquet"), left_on="site", right_on="frame"
    )
    assert joined.height == 24


def test_load_takes_a_case_directory(written: Path, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    assert_same(load([written], spool), case_of(job()).with_notes(NOTE))


class TestNotACase:
    """One line that names the place, for every way in which a directory can be wrong."""

    @staticmethod
    def refused(directory: Path) -> str:
        with pytest.raises(case_dir.NotACase) as error:
            case_dir.read(directory)
        text = str(error.value)
        assert str(directory) in text
        assert "\n" not in text
        assert len(text) < 400 + len(str(directory))
        return text

    def manifest(self, directory: Path, **changes: object) -> None:
        path = directory / case_dir.MANIFEST
        path.write_bytes(msgspec.json.encode(msgspec.json.decode(path.read_bytes()) | changes))

    @pytest.mark.parametrize("schema", ["rankandfile.case/0", "rankandfile.case/2", "somebody.else/1"])
    def test_of_another_version(self, schema: str, written: Path) -> None:
        self.manifest(written, schema=schema)
        assert schema in self.refused(written)

    @pytest.mark.parametrize(
        "changes", [{"schema": 1}, {"notes": "none"}, {"world_size": "four"}, {"notes": [{"file": 1}]}]
    )
    def test_with_a_manifest_of_wrong_types(self, changes: dict[str, object], written: Path) -> None:
        self.manifest(written, **changes)
        self.refused(written)

    @pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000])
    def test_with_a_manifest_that_is_none(self, text: bytes, written: Path) -> None:
        (written / case_dir.MANIFEST).write_bytes(text)
        self.refused(written)

    @pytest.mark.parametrize("name", sorted(TABLES))
    @pytest.mark.parametrize("harm", ["gone", "empty", "text", "cut", "flipped", "folder"])
    def test_with_a_damaged_table(self, name: str, harm: str, written: Path) -> None:
        path = written / f"{name}.parquet"
        data = path.read_bytes()
        path.unlink()
        if harm == "folder":
            path.mkdir()
        elif harm != "gone":
            middle = bytearray(data)
            middle[-20:-8] = b"\xff" * 12
            path.write_bytes(
                {"empty": b"", "text": b"hello", "cut": data[:-9], "flipped": bytes(middle)}[harm]
            )
        self.refused(written)

    def test_with_a_missing_column(self, written: Path) -> None:
        path = written / "calls.parquet"
        pl.read_parquet(path).drop("seq", "op").write_parquet(path)
        assert "columns missing: op, seq" in self.refused(written)

    def test_with_a_column_of_another_type(self, written: Path) -> None:
        path = written / "calls.parquet"
        pl.read_parquet(path).with_columns(pl.lit("many").alias("seq")).write_parquet(path)
        self.refused(written)

    def test_with_a_state_that_nobody_knows(self, written: Path) -> None:
        path = written / "calls.parquet"
        pl.read_parquet(path).with_columns(pl.lit("melted").alias("state")).write_parquet(path)
        self.refused(written)

    @pytest.mark.parametrize(
        ("table", "column"),
        [
            ("calls", "group"),
            ("calls", "shape"),
            ("calls", "stack"),
            ("calls", "site"),
            ("calls", "dump"),
            ("statuses", "group"),
            ("stacks", "site"),
        ],
    )
    def test_with_a_number_that_leads_nowhere(self, table: str, column: str, written: Path) -> None:
        path = written / f"{table}.parquet"
        wrong = pl.lit(10_000, pl.UInt32).alias(column)
        pl.read_parquet(path).with_columns(wrong).write_parquet(path)
        assert column in self.refused(written)

    def test_with_a_frame_that_leads_nowhere(self, written: Path) -> None:
        path = written / "stacks.parquet"
        wrong = pl.lit([77_777], pl.List(pl.UInt32)).alias("frames")
        pl.read_parquet(path).with_columns(wrong).write_parquet(path)
        assert "frames" in self.refused(written)

    def test_a_folder_of_dumps_is_not_a_case_directory(self, tmp_path: Path) -> None:
        (tmp_path / case_dir.MANIFEST).write_text("{}")
        assert not case_dir.is_case_dir(tmp_path)
        assert not case_dir.is_case_dir(tmp_path / "nowhere")
