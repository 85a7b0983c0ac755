"""The agent skill: its format, its commands, and its installation beside what people edited."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from support.cli.raf_runs import Raf
from support.places import EARLY_STOP

from rankandfile.agent.registry import TOOLS
from rankandfile.agent.skill import install
from rankandfile.cli.program import application

pytestmark = pytest.mark.slow

SKILL = (install.FOLDER / "SKILL.md").read_text(encoding="utf-8")


def frontmatter() -> dict[str, object]:
    _, head, _ = SKILL.split("---\n", 2)
    found = yaml.safe_load(head)
    assert isinstance(found, dict)
    return found


def commands() -> Iterator[Any]:
    """Every `raf` command with an argument that the skill shows, in a block or in a line."""
    for name, data in install.files().items():
        text = data.decode()
        blocks = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
        inline = re.findall(r"`(raf [^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
        for line in [*(one.strip() for one in blocks.splitlines()), *inline]:
            if line.startswith("raf ") and "COMMAND" not in line:
                yield pytest.param(line, id=f"{name}: {line}")


def test_the_format_is_that_of_agent_skills() -> None:
    head = frontmatter()
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert head["name"] == install.NAME == install.FOLDER.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", install.NAME) and len(install.NAME) <= 64
    assert 200 < len(str(head["description"])) <= 1024 and "Use when" in str(head["description"])
    assert len(str(head["compatibility"])) <= 500
    # What is loaded when the skill is chosen; the rest is read when it is needed.
    assert len(SKILL.splitlines()) < 200


def test_the_public_validator_has_nothing_against_it() -> None:
    skills_ref = pytest.importorskip("skills_ref")
    assert skills_ref.validate(install.FOLDER) == []


def test_every_reference_is_there_and_is_referred_to() -> None:
    named = set(re.findall(r"\]\((references/[\w.-]+)\)", SKILL))
    assert named == set(install.files()) - {"SKILL.md"}
    assert {one for one in ("overview", "propose_verdict") if one not in TOOLS} == set()


def test_it_says_what_not_to_do() -> None:
    for forbidden in ("raise the timeout", "first logger", "RAS", "watchdog's rank", "undetermined", "Cite"):
        assert forbidden.lower() in SKILL.lower()


@pytest.mark.parametrize("line", list(commands()))
def test_every_command_is_one_that_raf_has(line: str) -> None:
    words = shlex.split(line.partition(" -- ")[0])[1:] + (["--", "x"] if " -- " in line else [])
    command = typer.main.get_command(application())
    context = command.make_context("raf", words, resilient_parsing=False)
    while hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        # Only what is named and nothing more, such as `raf fix`, needs no arguments.
        if not rest:
            return
        context = command.make_context(name, rest, parent=context)


@pytest.fixture
def incident(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "incident").symlink_to(EARLY_STOP / "evidence")
    (tmp_path / "train").symlink_to(EARLY_STOP / "src")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_steps_answer(incident: Path, raf: Raf) -> None:
    wanted = {
        "raf diagnose incident/ --src train/": "trainer.py:40",
        "raf show evidence incident/ D0#84": "gloo:broadcast",
        "raf fix incident/ --src train/": "+++ b/trainer.py",
    }
    for line, told in wanted.items():
        assert f" {line}\n" in SKILL
        assert told in raf(*shlex.split(line)[1:]).out


def test_installing_twice_writes_once(tmp_path: Path, raf: Raf) -> None:
    done = raf("skill", "install", "--for", tmp_path / "skills")
    folder = tmp_path / "skills" / install.NAME
    assert done.status == 0
    assert {line.split()[-1] for line in done.out.splitlines()} == {
        str(folder / name) for name in install.files()
    }
    assert (folder / "SKILL.md").read_text(encoding="utf-8") == SKILL
    again = raf("skill", "install", "--for", tmp_path / "skills")
    assert again.status == 0 and again.out == "" and "up to date" in again.err


def test_what_was_edited_is_left_alone_unless_forced(tmp_path: Path, raf: Raf) -> None:
    assert raf("skill", "install", "--for", f"{tmp_path}/").status == 0
    edited = tmp_path / install.NAME / "references" / "mistakes.md"
    edited.write_text("ours\n")
    (tmp_path / install.NAME / "SKILL.md").unlink()
    refused = raf("skill", "install", "--for", f"{tmp_path}/")
    assert refused.status == 2 and str(edited) in refused.err and "--force" in refused.err
    assert edited.read_text() == "ours\n" and not (tmp_path / install.NAME / "SKILL.md").exists()
    forced = raf("skill", "install", "--for", f"{tmp_path}/", "--force")
    assert forced.status == 0 and len(forced.out.splitlines()) == 2
    assert edited.read_bytes() == install.files()["references/mistakes.md"]


def test_a_file_of_an_older_version_is_brought_up_to_date_or_removed(tmp_path: Path, raf: Raf) -> None:
    install.install(tmp_path)
    folder = tmp_path / install.NAME
    for name in ("SKILL.md", "references/old.md"):
        (folder / name).write_text("old\n")
    record = json.loads((folder / install.RECORD).read_text())
    record |= dict.fromkeys(("SKILL.md", "references/old.md"), install._digest(b"old\n"))
    record["../../theirs.md"] = install._digest(b"theirs\n")
    (tmp_path.parent / "theirs.md").write_text("theirs\n")
    (folder / install.RECORD).write_text(json.dumps(record))
    done = raf("skill", "install", "--for", f"{tmp_path}/")
    assert done.status == 0
    assert (folder / "SKILL.md").read_text(encoding="utf-8") == SKILL
    assert not (folder / "references" / "old.md").exists() and (tmp_path.parent / "theirs.md").exists()


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine\n")
    (tmp_path / install.NAME).mkdir()
    (tmp_path / install.NAME / "SKILL.md").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(install.Edited):
        install.install(tmp_path)
    install.install(tmp_path, force=True)
    assert (tmp_path / "mine.txt").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("agent", "at_home", "in_project"),
    [
        ("claude", ".claude/skills", ".claude/skills"),
        ("codex", ".agents/skills", ".agents/skills"),
        ("cursor", ".cursor/skills", ".cursor/skills"),
        ("vscode", ".copilot/skills", ".github/skills"),
    ],
)
def test_each_agent_has_its_folders(
    agent: str, at_home: str, in_project: str, tmp_path: Path, raf: Raf, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project / "src")
    assert raf("skill", "install", "--for", agent).status == 0
    assert raf("skill", "install", "--for", agent, "--project").status == 0
    assert (home / at_home / install.NAME / "SKILL.md").is_file()
    assert (project / in_project / install.NAME / "SKILL.md").is_file()


def test_showing_and_wrong_names(raf: Raf) -> None:
    assert raf("skill", "show").out == SKILL
    assert "Mistakes" in raf("skill", "show", "references/mistakes.md").out
    assert "it has SKILL.md" in raf("skill", "show", "../install.py").err
    assert "neither claude, codex, cursor, vscode" in raf("skill", "install", "--for", "emacs").err
