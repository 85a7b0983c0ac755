"""`raf mcp --http` as clients meet it: the token, names that are not ours, cases that clients open, ways out."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.agent.mcp_clients import (
    RAF,
    Address,
    ask,
    at,
    investigate,
    over_http,
    read,
    refused,
    serving,
)
from support.agent.needs import needs_mcp
from support.cli.raf_runs import Raf
from support.later import Later
from support.places import EARLY_STOP, EXAMPLES

from rankandfile.agent.bench import Bench
from rankandfile.agent.mcp.cases import Asked, OpenCases
from rankandfile.agent.mcp.confine import Roots
from rankandfile.agent.tool import ToolError

if TYPE_CHECKING:
    from mcp import Client

pytestmark = [pytest.mark.slow, needs_mcp]

httpx2 = Later("httpx2")
ours = Later("rankandfile.agent.mcp.server")

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
TAKES = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def address() -> Iterator[Address]:
    with serving("--root", EXAMPLES) as address:
        yield address


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_opens_a_case_and_drives_a_whole_investigation_over_http(
    address: Address, mode: str
) -> None:
    async def session(client: Client) -> None:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert listed[0] == "open_case" and len(listed) == 22
        opened = await ask(client, "open_case", paths=["early-stop/evidence"], src=["early-stop/src"])
        assert opened.startswith("The case is open as `c1`, with its source.")
        assert (await investigate(client, case="c1"))[-1].startswith("accepted: early_exit of rank 2")
        assert "## HANG: rank 2 left early" in await read(client, "raf://c1/report.md")

    over_http(address, session, mode=mode)


def test_only_who_has_the_token_is_served(address: Address) -> None:
    right = {"Authorization": f"Bearer {address.token}"}

    def status(**headers: str) -> int:
        with httpx2.Client() as http:
            return http.post(address.url, json=PING, headers={**TAKES, **headers}).status_code

    assert status() == 401
    for wrong in (
        "Bearer",
        "Bearer x",
        f"Bearer {address.token}x",
        f"Bearer {address.token[:-1]}",
        address.token,
    ):
        assert status(Authorization=wrong) == 401
    assert status(**right) not in (401, 403, 421)
    # A web page that had its own name lead to this machine.
    assert status(**right, Host="evil.example") == 421
    assert status(**right, Origin="http://evil.example") == 403


def test_a_token_that_was_given_is_not_printed(tmp_path: Path) -> None:
    token = "0123456789abcdef0123456789abcdef"
    environment = {**os.environ, "RAF_MCP_TOKEN": token}
    with subprocess.Popen(
        [*RAF, "--http", "0"], env=environment, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        assert process.stderr is not None
        told = process.stderr.readline()
        process.terminate()
        told += process.stderr.read()
    assert "http://127.0.0.1:" in told and token not in told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that may be opened, beside one that may not."""
    for name in ("open", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rank_0.log").write_text("x\n")
    (tmp_path / "open" / "link.log").symlink_to(tmp_path / "closed" / "rank_0.log")
    (tmp_path / "open" / "way").symlink_to(tmp_path / "closed")
    inside = tmp_path / "open" / "inside"
    inside.mkdir()
    (inside / "same").symlink_to(tmp_path / "open" / "rank_0.log")
    return tmp_path


def test_nothing_that_lies_outside_or_leads_outside_can_be_opened(folder: Path) -> None:
    roots = Roots([folder / "open"])
    for fine in ("rank_0.log", str(folder / "open" / "rank_0.log"), "inside", "inside/../rank_0.log"):
        assert roots.inside(fine).is_relative_to(folder / "open")
    for outside in (
        "../closed",
        "../closed/rank_0.log",
        "inside/../../closed",
        str(folder / "closed"),
        "/etc/passwd",
        "link.log",
        "way",
        "way/rank_0.log",
        ".",
        "nothing",
        "\0",
        "~",
        "x" * 5000,
    ):
        with pytest.raises(ToolError):
            roots.inside(outside)


def test_a_repository_that_lies_elsewhere_has_no_history(folder: Path) -> None:
    def git(where: Path, *words: str) -> None:
        subprocess.run(["git", "-C", str(where), *words], check=True, capture_output=True)

    roots = Roots([folder / "open"])
    own = folder / "open" / "inside"
    git(own, "init", "-q")
    assert roots.has_history_of(own)
    (own / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (own / ".git" / "objects" / "info" / "alternates").write_text(str(folder / "closed"))
    assert not roots.has_history_of(own)
    git(folder / "closed", "init", "-q")
    (folder / "open" / "lent").mkdir()
    (folder / "open" / "lent" / ".git").write_text(f"gitdir: {folder / 'closed' / '.git'}\n")
    assert not roots.has_history_of(folder / "open" / "lent")


def test_several_cases_are_told_apart_and_few_stay_open(early_stop: Bench) -> None:
    reads: list[Asked] = []

    def reader(asked: Asked) -> Bench:
        reads.append(asked)
        if asked.paths[0].suffix == ".toml":
            raise ToolError("nothing that tells of a job could be read")
        return early_stop

    async def session(client: Client) -> None:
        assert "open one with open_case" in await refused(client, "overview")
        assert "needs paths" in await refused(client, "open_case", paths=[])
        assert "Expected `array`" in await refused(client, "open_case", paths="early-stop")
        assert "not in" in await refused(client, "open_case", paths=["early-stop"], src=["../src"])
        assert "tells of a job" in await refused(client, "open_case", paths=["early-stop/truth.toml"])
        parts = ["evidence", "evidence/logs", "evidence/stacks", "evidence/dumps", "src"]
        for number, part in enumerate(parts, 1):
            told = await ask(client, "open_case", paths=[f"early-stop/{part}"])
            assert told.startswith(f"The case is open as `c{number}`, with its source.")
        assert "name one of c2, c3, c4, c5" in await refused(client, "overview")
        assert "no open case 'c1'" in await refused(client, "overview", case="c1")
        assert (await ask(client, "overview", case="c2")).startswith("The job has 4 ranks")
        # The same again is read again, and keeps its name.
        assert "`c3`" in await ask(client, "open_case", paths=["early-stop/evidence/stacks"])
        named = {one.uri.split("/")[2] for one in (await client.list_resources()).resources}
        assert named == {"c2", "c3", "c4", "c5"} and len(reads) == 7

    at(ours.server(OpenCases(Roots([EXAMPLES]), reader)), session)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--src", "."], "need PATH"),
        (["nowhere"], "no such file"),
        ([EARLY_STOP / "evidence", "--root", "."], "--root is for"),
        (["--root", "nowhere"], "no such folder"),
        (["--http", "no-port"], "neither a port nor HOST:PORT"),
        (["--http", "8.8.8.8:0"], "cannot listen there"),
        (["--http", "0", "--token", "hunter2"], "can be guessed"),
    ],
)
def test_a_wrong_command_line_is_one_line(raf: Raf, words: list[object], told: str) -> None:
    done = raf("mcp", *words)
    assert done.status == 2 and done.out == "" and done.err.count("\n") == 1
    assert told in done.err and "hunter2" not in done.err
