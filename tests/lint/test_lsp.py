"""`raf lsp` as an editor sees it: a real client over stdio, with text that is not saved, is broken, or has no file."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from support.lint_client import Editor, editor, made

pytestmark = pytest.mark.slow

HELPER = """import torch.distributed as dist


def mean(x):
    dist.all_reduce(x)
    return x / dist.get_world_size()
"""
TRAIN = """import torch.distributed as dist

from helper import mean


def log(loss):
    if dist.get_rank() == 0:
        loss = mean(loss)
        print("größe 🚂", loss)
"""
GOOD = """import torch.distributed as dist

from helper import mean


def log(loss):
    loss = mean(loss)
    if dist.get_rank() == 0:
        print("größe 🚂", loss)
"""
OWN = """import torch.distributed as dist


def log(loss):
    if dist.get_rank() == 0:
        dist.all_reduce(loss)
        print(loss)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Its name is one that has to be written differently in an address."""
    folder = tmp_path / "a job"
    folder.mkdir()
    (folder / "helper.py").write_text(HELPER, encoding="utf-8")
    (folder / "train.py").write_text(TRAIN, encoding="utf-8")
    return folder


def in_an_editor(folder: Path, do: Callable[[Editor], Awaitable[None]], **options: bool) -> None:
    async def session() -> None:
        async with editor(folder, **options) as client:
            await do(client)
            assert not client.logged

    asyncio.run(session())


def test_findings_follow_the_text_through_its_program(folder: Path) -> None:
    train, helper = folder / "train.py", folder / "helper.py"

    async def session(client: Editor) -> None:
        client.open(train)
        (found,) = await client.told_of(train)
        assert (found.code, found.severity) == ("rank-guarded-collective", lsp.DiagnosticSeverity.Warning)
        assert (found.range.start.line, found.range.start.character) == (6, 4)
        assert found.range.end.character == len("    if dist.get_rank() == 0:")
        places = {each.location.uri.rpartition("/")[2]: each for each in found.related_information or []}
        assert places["helper.py"].location.range.start.line == 4
        # Neither is on disk.
        client.type(train, GOOD)
        assert await client.told_of(train) == []
        client.type(train, "# 🚂 a line more\n", at=(0, 0))
        assert await client.told_of(train) == []
        client.type(train, TRAIN)
        assert len(await client.told_of(train)) == 1
        # Another file of the program decides, too, as it is in the editor.
        client.open(helper, HELPER.replace("    dist.all_reduce(x)\n", ""))
        await client.once(lambda: client.diagnostics(train) == [])
        client.close(helper)
        await client.once(lambda: len(client.diagnostics(train)) == 1)
        train.write_text(GOOD, encoding="utf-8")
        client.type(train, GOOD)
        client.save(train)
        assert await client.told_of(train) == []
        client.close(train)
        await client.once(lambda: client.told[train.as_uri()].version is None)

    in_an_editor(folder, session)


def test_a_hover_tells_the_story_and_the_rule(folder: Path) -> None:
    train = folder / "train.py"

    async def session(client: Editor) -> None:
        client.open(train)
        await client.told_of(train)
        said = await client.hover(train, 7)
        assert "is the rank's own number" in said
        assert f"[helper.py:5]({(folder / 'helper.py').as_uri()}#L5)" in said
        assert "#### Use instead" in said
        assert await client.hover(train, 8) == ""

    in_an_editor(folder, session)


def test_the_safe_change_and_the_comment_are_offered(folder: Path) -> None:
    train = folder / "train.py"
    train.write_text(OWN, encoding="utf-8")

    async def session(client: Editor) -> None:
        client.open(train)
        await client.told_of(train)
        mend, leave = await client.actions(train, at_least=2)
        assert mend.is_preferred and mend.kind == lsp.CodeActionKind.QuickFix
        assert made(mend, train, OWN) == OWN.replace("        dist.all", "    dist.all").replace(
            "    if dist.get_rank() == 0:\n    dist.all_reduce(loss)\n",
            "    dist.all_reduce(loss)\n    if dist.get_rank() == 0:\n",
        )
        left = made(leave, train, OWN)
        assert "    if dist.get_rank() == 0:  # raf: ok[rank-guarded-collective] \n" in left
        for text in (made(mend, train, OWN), left):
            client.type(train, text)
            assert await client.told_of(train) == []

    in_an_editor(folder, session)


@pytest.mark.lab
def test_a_comment_stands_where_it_can(folder: Path) -> None:
    train = folder / "train.py"
    text = OWN.replace(
        "if dist.get_rank() == 0:", "if dist.get_rank() == 0 \\\n            and loss is not None:"
    )
    train.write_text(text, encoding="utf-8")

    async def session(client: Editor) -> None:
        client.open(train)
        await client.told_of(train)
        (leave,) = [each for each in await client.actions(train) if "raf: ok" in each.title]
        assert "\n    # raf: ok[rank-guarded-collective] \n    if dist" in made(leave, train, text)

    in_an_editor(folder, session)


def test_broken_text_leaves_what_was_said(folder: Path) -> None:
    train, other = folder / "train.py", folder / "other.py"
    other.write_text(TRAIN, encoding="utf-8")

    async def session(client: Editor) -> None:
        client.open(train)
        client.open(other)
        assert len(await client.told_of(train)) == 1
        before = client.told[train.as_uri()]
        client.type(train, TRAIN + "\n\ndef half(:\n")
        client.type(other, TRAIN + "\n")
        assert len(await client.told_of(other)) == 1
        assert client.told[train.as_uri()] is before
        assert await client.hover(train, 7) == ""
        client.type(train, TRAIN)
        assert len(await client.told_of(train)) == 1
        # What others call is as it was before it was broken.
        client.open(folder / "helper.py")
        client.type(folder / "helper.py", HELPER + "\n)(\n")
        client.type(other, TRAIN)
        assert len(await client.told_of(other)) == 1

    in_an_editor(folder, session)


@pytest.mark.lab
def test_files_that_are_not_there(folder: Path) -> None:
    """Deleted while open, never saved, broken from the beginning; another language; outside of the workspace."""
    train, new, broken = folder / "train.py", folder / "new.py", folder / "broken.py"

    async def session(client: Editor) -> None:
        client.open(train)
        await client.told_of(train)
        train.unlink()
        client.workspace_did_change_watched_files(
            lsp.DidChangeWatchedFilesParams(
                changes=[lsp.FileEvent(uri=train.as_uri(), type=lsp.FileChangeType.Deleted)]
            )
        )
        client.type(train, TRAIN + "\n")
        assert len(await client.told_of(train)) == 1
        client.open(new, OWN)
        assert len(await client.told_of(new)) == 1
        client.open(broken, "def (:\n")
        assert await client.told_of(broken) == []
        client.open(folder / "notes.md", "# no program")
        outside = folder.parent / "outside.py"
        client.open(outside, OWN)
        assert len(await client.told_of(outside)) == 1

    in_an_editor(folder, session)


@pytest.mark.lab
def test_settings_of_the_project_count(folder: Path) -> None:
    train, project = folder / "train.py", folder / "pyproject.toml"
    project.write_text('[tool.raf.lint.per-file-ignores]\n"train.py" = ["*"]\n', encoding="utf-8")

    async def session(client: Editor) -> None:
        client.open(train)
        assert await client.told_of(train) == []
        project.write_text("[tool.raf.lint]\nno-such = 1\n", encoding="utf-8")
        client.save(train)
        await client.once(lambda: bool(client.logged))
        assert "no setting 'lint.no-such'" in client.logged.pop()
        project.unlink()
        client.type(train, TRAIN)
        assert len(await client.told_of(train)) == 1

    in_an_editor(folder, session)


@pytest.mark.lab
def test_typing_waits_for_nothing(folder: Path) -> None:
    """In a workspace of 2,000 files each letter asks anew; the server answers at once, and tells of the last text."""
    for number in range(2000):
        part = folder / f"part{number % 40}"
        part.mkdir(exist_ok=True)
        text = OWN.replace("def log", f"def log{number}").replace("if dist.get_rank() == 0", "if loss > 0")
        (part / f"module{number}.py").write_text(text, encoding="utf-8")
    train = folder / "train.py"

    async def session(client: Editor) -> None:
        client.open(train)
        await asyncio.sleep(0.6)  # The first question is being answered now.
        longest = 0.0
        for _letter in range(30):
            client.type(train, "\n", at=(0, 0))
            began = time.monotonic()
            await client.hover(train, 7)
            longest = max(longest, time.monotonic() - began)
            await asyncio.sleep(0.05)
        (found,) = await client.told_of(train)
        assert found.range.start.line == 36
        assert longest < 1.0

    in_an_editor(folder, session)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_the_extension_for_visual_studio_code_starts_the_server() -> None:
    """Against stand-ins for the editor; `npm run build` there packs it."""
    folder = Path(__file__).parents[2] / "editors" / "vscode"
    done = subprocess.run(["node", "test.js"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
