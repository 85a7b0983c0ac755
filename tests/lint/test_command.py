"""`raf lint` as it is called: outputs, exit statuses, what is left out, and files that are no Python."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import Raf

BAD = """import torch.distributed as dist


def log(loss):
    if dist.get_rank() == 0:
        dist.all_reduce(loss)
"""
GOOD = BAD.replace("    if dist.get_rank() == 0:\n    ", "")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAF_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "train.py").write_text(BAD, encoding="utf-8")
    return tmp_path


def test_text_is_short_and_tells_the_story_if_asked(raf: Raf, here: Path) -> None:
    said = raf("lint", "train.py")
    assert said.status == 1
    assert "train.py:5: error[rank-guarded-collective]" in said.out
    assert "`dist.get_rank()` is the rank's own number" in said.out
    assert "1 error in 1 file" in said.out
    assert len(said.out.splitlines()) <= 8
    told = "train.py:6: `dist.all_reduce(loss)`"
    assert told not in said.out
    assert told in raf("lint", "train.py", "-v").out


def test_the_same_files_are_read_once(raf: Raf, here: Path) -> None:
    first = raf("lint")
    kept = list((here / "cache").rglob("*.json"))
    assert len(kept) == 1
    kept[0].write_bytes(kept[0].read_bytes().replace(b"rank-guarded-collective", b"said-before"))
    assert "error[said-before]" in raf("lint").out
    assert raf("lint", "--no-cache").out == first.out
    (here / "train.py").write_text(GOOD, encoding="utf-8")
    assert raf("lint").status == 0
    kept[0].write_bytes(b"no report")
    (here / "train.py").write_text(BAD, encoding="utf-8")
    assert raf("lint").out == first.out


def test_files_of_one_folder_are_one_program(raf: Raf, here: Path) -> None:
    """As a hook names those that a commit changes."""
    (here / "deep").mkdir()
    (here / "deep" / "more.py").write_text(BAD, encoding="utf-8")
    (here / "ok.py").write_text(GOOD, encoding="utf-8")
    said = raf("lint", "train.py", "ok.py", "deep/more.py").out
    assert said.count("error[rank-guarded-collective]") == 2
    assert "2 errors in 3 files" in said
    assert "1 error in 1 file" in raf("lint", "deep").out


def test_nothing_found(raf: Raf, here: Path) -> None:
    (here / "train.py").write_text(GOOD, encoding="utf-8")
    said = raf("lint")
    assert (said.status, said.out.strip()) == (0, "nothing found in 1 file, 5 lines")


def test_json_and_sarif_and_github_and_junit(raf: Raf, here: Path) -> None:
    found = json.loads(raf("lint", "-f", "json").out)["findings"]
    assert [(each["rule"], each["line"], each["severity"]) for each in found] == [
        ("rank-guarded-collective", 5, "error")
    ]
    result = json.loads(raf("lint", "-f", "sarif").out)["runs"][0]["results"][0]
    where = result["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == ("train.py", 5)
    assert len(result["codeFlows"][0]["threadFlows"][0]["locations"]) == 3
    assert raf("lint", "-f", "github").out.startswith(
        "::error file=train.py,line=5,title=rank-guarded-collective::"
    )
    suites = ElementTree.fromstring(raf("lint", "-f", "junit").out)
    assert suites.get("failures") == "1"


def test_a_rule_that_is_not_asked_says_nothing(raf: Raf, here: Path) -> None:
    assert (
        raf("lint", "--ignore", "rank-guarded-collective", "--select", "clock-guarded-collective").status == 0
    )
    assert raf("lint", "--select", "no-such-rule").status == 2
    # Nor does another rule take the place.
    assert raf("lint", "--ignore", "rank-guarded-collective").status == 0


def test_settings_of_the_project(raf: Raf, here: Path) -> None:
    project = here / "pyproject.toml"
    project.write_text('[tool.raf.lint]\nper-file-ignores = { "train.py" = ["*"] }\n', encoding="utf-8")
    assert raf("lint").status == 0


def test_collectives_of_the_project(raf: Raf, here: Path) -> None:
    project = here / "pyproject.toml"
    project.write_text(
        '[tool.raf.lint]\nuniform = ["ours.main"]\ncollectives = ["ours.mean"]\n', encoding="utf-8"
    )
    text = "import ours\nimport torch.distributed as dist\n\nif dist.get_rank() == 0:\n    ours.mean()\n"
    (here / "train.py").write_text(text, encoding="utf-8")
    assert "`mean`" in raf("lint").out


def test_a_baseline_is_made_and_kept_to(raf: Raf, here: Path) -> None:
    assert raf("lint", "--baseline", "known.json").status == 0
    (here / "train.py").write_text("# moved\n\n" + BAD, encoding="utf-8")
    assert raf("lint", "--baseline", "known.json").status == 0
    more = BAD + "\n\ndef more(x):\n    if dist.get_rank() != 1:\n        dist.broadcast(x, 0)\n"
    (here / "train.py").write_text(more, encoding="utf-8")
    said = raf("lint", "--baseline", "known.json")
    assert said.status == 1
    assert "broadcast" in said.out and "all_reduce" not in said.out


def committed(folder: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


MORE = BAD + "\n\ndef more(x):\n    if dist.get_rank() != 1:\n        dist.broadcast(x, 0)\n"


def test_only_what_a_change_brings(raf: Raf, here: Path) -> None:
    committed(here)
    assert raf("lint", "--diff", "HEAD").status == 0
    (here / "train.py").write_text(MORE, encoding="utf-8")
    said = raf("lint", "--diff", "HEAD")
    assert said.status == 1
    assert "broadcast" in said.out and "all_reduce" not in said.out
    assert raf("lint", "--diff", "no-such-revision").status == 2


def test_a_change_elsewhere_brings_it(raf: Raf, here: Path) -> None:
    """In a helper; by lines that are gone; and once more what was there once."""
    guarded = "import torch.distributed as dist\nfrom helper import mean\n\n\ndef log(x):\n"
    (here / "train.py").write_text(
        f"{guarded}    if dist.get_rank() == 0:\n        mean(x)\n", encoding="utf-8"
    )
    quiet = "import torch.distributed as dist\n\n\ndef mean(x):\n    return x\n    dist.all_reduce(x)\n"
    (here / "helper.py").write_text(quiet, encoding="utf-8")
    (here / "old.py").write_text(BAD, encoding="utf-8")
    committed(here)
    assert "old.py:5" in raf("lint").out
    (here / "helper.py").write_text(quiet.replace("    return x\n", ""), encoding="utf-8")
    said = raf("lint", "--diff", "HEAD").out
    assert "train.py:6" in said and "1 warning in" in said
    again = BAD + "    if dist.get_rank() == 0:\n        dist.all_reduce(loss)\n"
    (here / "old.py").write_text(again, encoding="utf-8")
    assert "1 error, 1 warning" in raf("lint", "--diff", "HEAD").out


def test_what_is_moved_is_no_news(raf: Raf, here: Path) -> None:
    committed(here)
    (here / "train.py").rename(here / "other.py")
    (here / "new.py").write_text("x = 1\n", encoding="utf-8")
    assert raf("lint", "--diff", "HEAD").status == 0
    (here / "train.py").write_text(BAD, encoding="utf-8")
    assert "other.py:5" in raf("lint", "--diff", "HEAD").out


def test_a_baseline_holds_wherever_the_command_is_called(
    raf: Raf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "deep").mkdir()
    (here / "deep" / "more.py").write_text(MORE, encoding="utf-8")
    assert raf("lint", "--baseline", "known.json").status == 0
    monkeypatch.chdir(here / "deep")
    assert raf("lint", "--baseline", "../known.json").status == 0
    assert raf("lint").status == 1
    assert raf("lint", str(here), "--baseline", str(here / "known.json")).status == 0


def test_a_repository_that_is_asked_for_its_changes_runs_nothing(
    raf: Raf, here: Path, tmp_path: Path
) -> None:
    """A stranger's repository configures programs for files that are compared with the working tree."""
    ran, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat\n')
    program.chmod(0o755)

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=here, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one")
    (here / ".gitattributes").write_text("*.py diff=evil filter=evil\n")
    (here / "train.py").write_text(BAD + "\n\nprint('changed')\n", encoding="utf-8")
    for name in ("core.fsmonitor", "diff.external", "diff.evil.textconv", "diff.evil.command"):
        git("config", name, str(program))
    for name in ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "core.pager"):
        git("config", name, str(program))
    assert raf("lint", "--diff", "HEAD").status == 0
    assert not ran.exists(), ran.read_text()


def test_the_page_of_a_rule(raf: Raf, here: Path) -> None:
    said = raf("lint", "--explain", "unsynced-stop-flag")
    assert said.status == 0
    assert "## Use instead" in said.out
    assert raf("lint", "--explain", "nothing").status == 2


@pytest.mark.parametrize(
    "text",
    [
        "def (:\n",
        "if dist.get_rank() == 0:\n",
        "x = " + "(" * 300 + ")" * 300,
        "\ufeffimport torch\n",
        "match = 1\ntype X = int\n",
        "def f[T](x: T): ...\nexcept* E: pass\n",
        "async def f():\n    async for x in y:\n        await dist.barrier()\n",
        "class A(A): pass\nclass B(C): pass\nclass C(B):\n    def f(self): self.f(); self.g\n",
        "x = lambda: (yield)\nx()()()\n",
    ],
)
def test_no_file_is_too_strange(raf: Raf, here: Path, text: str) -> None:
    (here / "strange.py").write_text(text, encoding="utf-8")
    (here / "bytes.py").write_bytes(b"\xff\xfe\x00\x01")
    said = raf("lint")
    assert said.status == 1
    assert "train.py:5" in said.out and "bytes.py" in said.out


def test_a_file_gets_the_format_of_its_name(raf: Raf, here: Path) -> None:
    assert raf("lint", "-o", "found.sarif").status == 1
    assert json.loads((here / "found.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    raf("lint", "-o", "found.xml")
    assert ElementTree.parse(here / "found.xml").getroot().get("failures") == "1"
    raf("lint", "-o", "found.txt")
    assert "error[rank-guarded-collective]" in (here / "found.txt").read_text(encoding="utf-8")
    refused = raf("lint", "-o", "found.weird")
    assert (refused.status, (here / "found.weird").exists()) == (2, False)
    assert "the suffix tells the format: .json, .sarif" in refused.err
    assert raf("lint", "-o", "found.weird", "-f", "json").status == 1


def test_readers_of_a_repository_get_paths_from_its_top(
    raf: Raf, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".git").mkdir()
    (here / "pkg" / "train").mkdir(parents=True)
    (here / "train.py").rename(here / "pkg" / "train" / "main.py")
    monkeypatch.chdir(here / "pkg")
    assert raf("lint", "train", "-f", "github").out.startswith("::error file=pkg/train/main.py,line=5,")
    result = json.loads(raf("lint", "train", "-f", "sarif").out)["runs"][0]["results"][0]
    steps = [one["location"] for one in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    named = {place["physicalLocation"]["artifactLocation"]["uri"] for place in (*result["locations"], *steps)}
    assert named == {"pkg/train/main.py"}
    # Who stands there opens it from there.
    assert raf("lint", "train").out.startswith("train/main.py:5:")
