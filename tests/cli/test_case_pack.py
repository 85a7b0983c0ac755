"""`raf case pack` and `raf case open`: one archive, the same answer, and care with a stranger's."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest
from support.cli.raf_runs import Raf

import rankandfile
from rankandfile.evidence.pack import opening
from rankandfile.evidence.reading import NotACase
from rankandfile.evidence.tables import case_dir

pytestmark = pytest.mark.slow


def the_verdicts(text: str) -> list[object]:
    return [
        (v["cause"], [c["rank"] for c in v["culprits"]], v["divergence"]["seq"])
        for v in json.loads(text)["verdicts"]
    ]


@pytest.fixture(scope="session")
def packed(other_op: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from rankandfile.evidence.load import load
    from rankandfile.evidence.pack.writing import write

    folder = tmp_path_factory.mktemp("packed")
    (folder / "spool").mkdir()
    write(load([other_op], folder / "spool", jobs=1), folder / "ticket.zip", redacted=None)
    return folder / "ticket.zip"


def test_the_archive_is_as_good_as_the_evidence(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    ticket = tmp_path / "ticket.zip"
    done = raf("case", "pack", other_op, "-o", ticket, "--redact")
    assert done.status == 0 and "folders replaced" in done.out
    plain = raf("diagnose", other_op, "--format", "json")
    assert plain.status == 1
    direct = raf("diagnose", ticket, "--format", "json")
    assert direct.status == 1
    assert the_verdicts(direct.out) == the_verdicts(plain.out)
    assert str(other_op.parent) not in direct.out
    assert raf("show", "groups", ticket).status == 0
    assert raf("case", "open", ticket, "-o", tmp_path / "opened").status == 0
    opened = raf("diagnose", tmp_path / "opened", "--format", "json")
    assert the_verdicts(opened.out) == the_verdicts(plain.out)
    # Opened by default beside the archive, and never over anything.
    assert raf("case", "open", ticket).status == 0
    assert (tmp_path / "ticket" / "case.json").is_file()
    again = raf("case", "open", ticket)
    assert again.status == 2 and "not an empty directory" in again.err


def test_raw_evidence_comes_back_as_it_was(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    ticket = tmp_path / "ticket.zip"
    assert raf("case", "pack", other_op, "-o", ticket, "--raw").status == 0
    assert raf("case", "open", ticket, "-o", tmp_path / "opened").status == 0
    back = tmp_path / "opened" / "evidence" / other_op.name
    files = sorted(path.relative_to(other_op) for path in other_op.rglob("*") if path.is_file())
    assert files
    assert all((back / file).read_bytes() == (other_op / file).read_bytes() for file in files)


def test_raw_evidence_takes_along_nothing_that_links_lead_to(
    raf: Raf, other_op: Path, tmp_path: Path
) -> None:
    given, outside, ticket = tmp_path / "given", tmp_path / "outside", tmp_path / "ticket.zip"
    shutil.copytree(other_op, given)
    outside.mkdir()
    (outside / "raf-1.ring").write_text("secret")
    (given / "linked.txt").symlink_to(outside / "raf-1.ring")
    (given / "raf-2.ring").symlink_to(outside / "raf-1.ring")
    (given / "folder").symlink_to(outside)
    (given / "zeros").symlink_to("/dev/zero")
    os.mkfifo(given / "raf-3.ring")
    assert raf("case", "pack", given, "-o", ticket, "--raw").status == 0
    with zipfile.ZipFile(ticket) as packed:
        held = {name for name in packed.namelist() if name.startswith("evidence/")}
        assert b"secret" not in b"".join(map(packed.read, packed.namelist()))
    assert {Path(name).name for name in held} == {file.name for file in other_op.iterdir()}
    assert raf("show", "ring", given).status == 2
    # Where the person says so, links are followed.
    (given / "zeros").unlink()
    assert raf("case", "pack", given, "-o", ticket, "--raw", "--force", "--follow-links").status == 0
    with zipfile.ZipFile(ticket) as packed:
        assert packed.read("evidence/given/linked.txt") == b"secret"


def test_the_tables_of_a_case_directory_are_its_own(raf: Raf, packed: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    assert raf("case", "open", packed, "-o", opened).status == 0
    (opened / "calls.parquet").rename(tmp_path / "elsewhere.parquet")
    (opened / "calls.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    done = raf("show", "groups", opened)
    assert done.status == 2 and "a link that leads out" in done.err
    assert raf("show", "groups", opened, "--follow-links").status == 0


def test_a_dry_run_shows_and_writes_nothing(raf: Raf, other_op: Path, tmp_path: Path) -> None:
    done = raf("case", "pack", other_op, "-o", tmp_path / "ticket.zip", "--redact", "--dry-run")
    assert done.status == 0
    assert " → dir-" in done.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "-o ticket.zip"),
        (["-o", "x.zip", "--redact", "--raw"], "leave out"),
        (["-o", "x.zip", "--hide", "me"], "--hide needs --redact"),
        (["--dry-run"], "add --redact"),
        (["-o", "no/such/folder/x.zip"], "no folder no/such/folder"),
        (["-o", "there.zip"], "--force"),
    ],
)
def test_what_cannot_be_meant_is_said(
    raf: Raf, other_op: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.zip").write_bytes(b"mine")
    done = raf("case", "pack", other_op, *options)
    assert done.status == 2 and says in " ".join(done.err.split())
    assert Path("there.zip").read_bytes() == b"mine"


def changed(packed: Path, into: Path, **members: bytes | None) -> Path:
    """The archive with these members put in, or left out; a double underscore is a dot."""
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(into, "w") as new:
        for name in old.namelist():
            if name.replace(".", "__") not in members:
                new.writestr(name, old.read(name))
        for key, data in members.items():
            if data is not None:
                new.writestr(key.replace("__", "."), data)
    return into


def test_a_broken_archive_is_one_line(raf: Raf, packed: Path, tmp_path: Path) -> None:
    bad = changed(packed, tmp_path / "bad.zip", calls__parquet=b"PAR1 and nothing else")
    for arguments in (("diagnose", bad), ("case", "open", bad, "-o", tmp_path / "opened")):
        done = raf(*arguments)
        assert done.status == 2 and "not a readable case directory" in " ".join(done.err.split())
    lacking = changed(packed, tmp_path / "lacking.zip", groups__parquet=None)
    assert raf("diagnose", lacking).status == 2
    (tmp_path / "other.zip").write_bytes(b"PK\3\4 no zip")
    assert "not an archive of raf case pack" in raf("case", "open", tmp_path / "other.zip").err


def test_members_that_lead_out_stay_in(packed: Path, tmp_path: Path) -> None:
    bad = changed(packed, tmp_path / "bad.zip")
    with zipfile.ZipFile(bad, "a") as zipped:
        zipped.writestr("evidence/../../../outside.txt", b"x")
        zipped.writestr("/absolute.txt", b"x")
        zipped.writestr("setup.py", b"x")
        link = zipfile.ZipInfo("evidence/link")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        zipped.writestr(link, b"/etc/passwd")
    (tmp_path / "spool").mkdir()
    _, notes = opening.unpack(bad, tmp_path / "spool", tmp_path / "a" / "b" / "opened")
    found = {str(path.relative_to(tmp_path / "a")) for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert all(name.startswith("b/opened/") for name in found)
    assert not any(name.endswith(("setup.py", "absolute.txt", "link")) for name in found)
    assert any("link" in note.what for note in notes)


def test_tables_that_end_a_process_are_refused(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are read by another process first: what they do to it, they do not do here."""
    dies = tmp_path / "dies"
    dies.write_text("#!/bin/sh\nkill -9 $$\n")
    dies.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(dies))
    (tmp_path / "spool").mkdir()
    with pytest.raises(NotACase, match="without harm"):
        opening.unpack(packed, tmp_path / "spool", tmp_path / "opened")


def test_a_case_directory_whose_tables_need_more_memory_than_there_is_is_refused(
    raf: Raf, other_op: Path, tmp_path: Path
) -> None:
    """A row that repeats a hundred million times is a few kilobytes of a table."""
    case = tmp_path / "case"
    case_dir.write(rankandfile.load(other_op), case)
    assert raf("show", "waits", case, "--limit-memory", 300).status == 0
    row = pl.read_parquet(case / "calls.parquet").head(1)
    columns = [pl.repeat(row[one][0], 8_000_000, dtype=row[one].dtype).alias(one) for one in row.columns]
    pl.select(columns).write_parquet(case / "calls.parquet")
    done = raf("show", "waits", case, "--limit-memory", 300)
    assert done.status == 2 and "its tables cannot be read without harm" in done.err


def test_words_left_are_listed_and_given_back(raf: Raf, tmp_path: Path) -> None:
    log = tmp_path / "evidence" / "rank_0.log"
    log.parent.mkdir()
    log.write_text("[rank0]: RuntimeError: the queue of Wonka on bagend is empty\n")
    listed = raf("case", "pack", log.parent, "--redact", "--review")
    assert {line.split()[0] for line in listed.out.splitlines()} == {"Wonka", "bagend"}, listed.out
    assert not list(tmp_path.glob("*.zip"))
    words = tmp_path / "words.txt"
    words.write_text(listed.out)
    raf("case", "pack", log.parent, "--redact", "--hide", f"@{words}", "-o", tmp_path / "ticket.zip")
    shown = raf("case", "pack", tmp_path / "ticket.zip", "--redact", "--review")
    assert "wonka" not in shown.out.lower() and "bagend" not in shown.out
    assert raf("case", "pack", log.parent, "--redact", "--hide", "@nowhere", "--dry-run").status == 2
