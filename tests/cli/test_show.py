"""`raf show` and `raf case convert`: the tables of a case by hand, in every format."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import polars as pl
import pytest
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP

from rankandfile.cli.output import Format, emit

pytestmark = pytest.mark.slow


def calls(raf: Raf, *arguments: object) -> pl.DataFrame:
    done = raf("show", "calls", *arguments, "--format", "json")
    assert done.status == 0, done.err
    return pl.read_json(io.StringIO(done.out))


def test_waits_name_the_place_and_nothing_before_it(raf: Raf, other_op: Path) -> None:
    rows = json.loads(raf("show", "waits", other_op, "--format", "json").out)
    assert rows and all(row["site"] and row["site"] == row["site"].strip() for row in rows)
    assert not any(row["site"].startswith("at ") for row in rows)


def test_filters_narrow_the_calls(raf: Raf, other_op: Path) -> None:
    everything = calls(raf, other_op)
    some = calls(raf, other_op, "--rank", "1-2", "--seq", "3-5", "--op", "all_reduce")
    assert 0 < some.height < everything.height
    assert set(some["rank"]) <= {1, 2}
    assert some["seq"].is_between(3, 5).all()
    assert set(some["op"]) == {"all_reduce"}
    wanted = everything.filter(
        pl.col("rank").is_in([1, 2]) & pl.col("seq").is_between(3, 5) & (pl.col("op") == "all_reduce")
    )
    assert some.equals(wanted)


def test_a_call_names_its_place_and_its_record(raf: Raf, other_op: Path) -> None:
    row = calls(raf, other_op, "--rank", "0", "--seq", "1").row(0, named=True)
    assert row["site"] == f"{row['file'].rsplit('/', 1)[-1]}:{row['line']}"
    assert Path(row["source"]).is_file()
    assert row["record"] == 0


def test_stacks_are_printed_on_request(raf: Raf, other_op: Path) -> None:
    with_stacks = calls(raf, other_op, "--rank", "0", "--stacks")
    assert "stack" not in calls(raf, other_op, "--rank", "0").columns
    assert with_stacks["stack"].str.contains("\n").all()


def test_side_by_side_has_a_column_per_rank_and_a_row_per_call(raf: Raf, other_op: Path) -> None:
    done = raf("show", "calls", other_op, "-j", "--format", "json", "--rank", "0-2")
    frame = pl.read_json(io.StringIO(done.out))
    assert frame.columns == ["group", "kind", "seq", "0", "1", "2"]
    assert frame.select("group", "kind", "seq").is_duplicated().sum() == 0
    both = frame.filter(pl.col("0").is_not_null() & pl.col("1").is_not_null())
    differ = both.filter(pl.col("0").str.extract(r"^(\S+)") != pl.col("1").str.extract(r"^(\S+)"))
    assert differ.height, "rank 1 asked for another operation somewhere"
    assert differ.height < both.height


def test_too_many_columns_are_refused_in_words(
    raf: Raf, other_op: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankandfile.cli.commands.show.calls.MAX_COLUMNS", 2)
    done = raf("show", "calls", other_op, "-j")
    assert done.status == 2
    assert "--rank" in done.err


def test_csv_and_parquet_hold_the_same_calls(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    wanted = calls(raf, other_op)
    for format in ("csv", "parquet"):
        file = tmp_path / f"calls.{format}"
        assert raf("show", "calls", other_op, "--format", format, "-o", file).status == 0
        found = pl.read_csv(file) if format == "csv" else pl.read_parquet(file)
        assert found.height == wanted.height
        assert found["record"].to_list() == wanted["record"].to_list()


def test_cells_of_csv_are_no_formulas(tmp_path: Path) -> None:
    cells = ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\t=1", "all_reduce", "a=b", None]
    frame = pl.DataFrame({"=op": cells, "seq": [-1] * 8, "state": pl.Series(cells, dtype=pl.Categorical)})
    emit(frame, Format.csv, tmp_path / "calls.csv")
    found = pl.read_csv(tmp_path / "calls.csv")
    inert = [f"'{cell}" for cell in cells[:5] if cell] + cells[5:]
    assert found.to_dict(as_series=False) == {"'=op": inert, "seq": [-1] * 8, "state": inert}


@pytest.mark.parametrize(("cell", "inert"), [
    ("\uff1dcmd|' /C calc'!A0", "'\uff1dcmd|' /C calc'!A0"),
    ("\u00a0=1", "'\u00a0=1"),
    ("x;=cmd|' /C calc'!A0", "x;'=cmd|' /C calc'!A0"),
    ("x; +1;-2;y", "x;' +1;'-2;y"),
])  # fmt: skip
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_nor_are_those_of_other_countries_and_separators(
    tmp_path: Path, cell: str, inert: str, suffix: str
) -> None:
    file = tmp_path / f"calls.{suffix}"
    emit(pl.DataFrame({"op": [cell]}), Format.csv if suffix == "csv" else Format.text, file)
    assert pl.read_csv(file, separator="," if suffix == "csv" else "\t")["op"].to_list() == [inert]


def test_text_says_how_much_it_left_out(raf: Raf, other_op: Path) -> None:
    done = raf("show", "calls", other_op, "-n", "3")
    assert "more calls not shown" in done.err


def test_groups_have_members(raf: Raf, other_op: Path) -> None:
    rows = json.loads(raf("show", "groups", other_op, "--format", "json").out)
    ranks = calls(raf, other_op)["rank"].n_unique()
    assert any(row["ranks"] == f"0-{ranks - 1}" and row["members_from"] == "recorded" for row in rows)


def test_progress_has_a_row_per_rank_and_group(raf: Raf, other_op: Path) -> None:
    rows = json.loads(raf("show", "progress", other_op, "--format", "json", "--rank", "0").out)
    assert rows
    for row in rows:
        assert row["rank"] == 0
        assert row["first_kept"] <= row["last_enqueued"]
        assert (row["unfinished"] > 0) == (row["oldest_unfinished"] is not None)


def test_a_converted_case_says_what_the_dumps_said(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    case = tmp_path / "case"
    assert raf("case", "convert", other_op, "-o", case).status == 0
    assert calls(raf, case).equals(calls(raf, other_op))
    assert json.loads(raf("diagnose", case, "--format", "json").out) == json.loads(
        raf("diagnose", other_op, "--format", "json").out
    )
    assert raf("case", "convert", other_op, "-o", case).status == 2
    assert raf("case", "convert", other_op, "-o", case, "--force").status == 0


def test_an_archive_serves_as_well_as_a_folder(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    archive = tmp_path / "ticket.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for dump in other_op.iterdir():
            packed.write(dump, f"node07/{dump.name}")
    found = calls(raf, archive).sort("rank", "record")
    assert found.drop("source").equals(calls(raf, other_op).sort("rank", "record").drop("source"))
    assert found["source"].str.contains("ticket.zip!/node07/").all()


def test_the_place_of_the_call_that_was_left_is_not_told_of_another_one(raf: Raf) -> None:
    evidence = EARLY_STOP / "evidence"
    rows = json.loads(raf("show", "cohorts", evidence, "--format", "json").out)
    told = {row["ranks"]: row["place"] for row in rows}
    assert told == {"0,1,3": "the 35th call by this path (train.py:17)", "2": None}
