"""The debug page of a job that really hangs: what it shows, to whom, and what it writes."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.later import Later
from support.runtime.gloo_ranks import Ranks

from rankandfile.capture.debug import job
from rankandfile.capture.debug.job import Settings
from rankandfile.capture.watch.rings import look
from rankandfile.lab.ranks import free_port
from rankandfile.runtime.recorder.ring import Ring
from rankandfile.wire import flight

programs = Later("support.runtime.debug_programs")

pytestmark = [pytest.mark.slow, pytest.mark.torch]

PATIENCE_S = 300.0


@dataclass
class Page:
    address: str
    dumps: Path
    torchs: str
    torchs_dumps: Path
    pids: dict[int, int]

    def get(self, path: str, token: str | None = programs.TOKEN, **headers: str) -> tuple[int, str]:
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return fetch(self.address + path, headers)


def fetch(address: str, headers: dict[str, str] | None = None) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(
            urllib.request.Request(address, headers=headers or {}), timeout=PATIENCE_S
        ) as answer:
            return answer.status, answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def culprits(page: Page) -> list[int]:
    verdict = json.loads(page.get("/verdict.json")[1])["verdicts"][0]
    return [one["rank"] for one in verdict["culprits"]]


def until(what: Callable[[], Any]) -> Any:
    """What it gives as soon as that is true."""
    deadline = time.monotonic() + PATIENCE_S
    while not (found := what()):
        assert time.monotonic() < deadline, "did not come"
        time.sleep(0.05)
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Two ranks that hang, with our page and torch's own server."""
    for needed in ("jinja2", "tabulate"):
        pytest.importorskip(needed)
    folder = tmp_path_factory.mktemp("page")
    rings, dumps, torchs_dumps = folder / "rings", folder / "dumps", folder / "torchs"
    port = free_port()
    ranks = Ranks()  # one runs a job at a time, and this job runs as long as the tests
    hangs = threading.Thread(
        target=ranks.run,
        args=(2, programs.looked_at, str(dumps), port, str(torchs_dumps)),
        kwargs={"limit": 900, "RAF_RING_DIR": str(rings), "TMPDIR": str(folder)},
    )
    hangs.start()
    try:
        said = until(lambda: next(folder.glob("raf-debug-*/*/page.url"), None))
        address = until(lambda: said.read_text().strip())
        until(lambda: sum(one.calls for one in look(rings)) >= 9)
        pids = {one.rank: one.pid for one in look(rings)}
        yield Page(address.partition("/?token=")[0], dumps, f"http://127.0.0.1:{port}", torchs_dumps, pids)
    finally:
        for one in look(rings):
            if one.lives:
                os.kill(one.pid, signal.SIGKILL)
        hangs.join()
        ranks.stop()
    until(lambda: not said.exists())


def test_the_page_names_the_rank_that_holds_the_others_up(page: Page) -> None:
    assert page.address.startswith("http://127.0.0.1:")
    until(lambda: culprits(page) == [1])  # a call that has waited for a second is no hang yet
    status, shown = page.get("/")
    assert status == 200
    assert "holds_the_lock" in shown
    assert "2 of 2 ranks seen" in shown


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/stacks?format=text", "in holds_the_lock"),
        ("/fr_trace?format=text", "{1}"),
        ("/fr_trace_json", "gloo:all_reduce"),
        ("/wait_counters?format=text", "pytorch.wait_counter"),
        ("/tcpstore?format=text", "default_pg"),
        ("/report", "<html"),
    ],
)
def test_the_page_shows_what_torchs_server_shows(page: Page, path: str, expected: str) -> None:
    # A rank that the machine has kept from answering in time answers the next time.
    shown = until(lambda: got if expected in (got := page.get(path))[1] else None)
    assert shown[0] == 200


def test_who_has_no_token_sees_nothing(page: Page) -> None:
    refused = [page.get("/", token=None), page.get("/", token="wrong"), page.get("/?token=wrong", token=None)]
    assert [status for status, _ in refused] == [401, 403, 403]
    assert page.get("/verdict", Host="evil.example")[0] == 403  # a name that somebody let point here
    assert not any("rank" in text for _, text in refused)
    status, _ = page.get(f"/verdict?token={programs.TOKEN}", token=None)
    assert status == 200


@pytest.mark.parametrize("path", ["/", "/fr_trace", "/report", "/verdict"])
def test_in_a_browser_only_what_the_page_brings_may_run(page: Page, path: str) -> None:
    until(lambda: page.get("/report")[0] == 200)
    asked = urllib.request.Request(page.address + path, headers={"Authorization": f"Bearer {programs.TOKEN}"})
    with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
        policy, text = answer.headers["Content-Security-Policy"], answer.read().decode()
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    inline = re.findall(r"<(style|script)>(.*?)</\1>", text, re.DOTALL)
    for kind, content in inline:
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert bool(inline) == (path != "/verdict")


def test_a_browser_keeps_the_token_out_of_the_address(page: Page) -> None:
    connection = http.client.HTTPConnection(page.address.removeprefix("http://"), timeout=PATIENCE_S)
    connection.request("GET", f"/verdict?token={programs.TOKEN}", headers={"Accept": "text/html"})
    answer = connection.getresponse()
    answer.read()
    assert (answer.status, answer.getheader("Location")) == (303, "/verdict")
    cookie = str(answer.getheader("Set-Cookie"))
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    connection.close()
    assert page.get("/verdict", token=None, Cookie=cookie.partition(";")[0])[0] == 200
    assert page.get("/verdict", token=None, Cookie="raf_debug=wrong")[0] == 403


def test_the_folder_fills_with_what_torch_reads(page: Page) -> None:
    # A rank that is busy may not answer in the first of them.
    until(lambda: [one for one in page.dumps.glob("verdict_*.txt") if "holds_the_lock" in one.read_text()])
    until(lambda: [one for one in page.dumps.glob("stacks_*.txt") if "in holds_the_lock" in one.read_text()])
    pickles = max(page.dumps.glob("pickles_*"))
    assert sorted(one.name for one in pickles.iterdir()) == ["rank_0", "rank_1"]
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", str(pickles)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert "Not all ranks joining collective, sequence number: 5" in said
    assert "missing ranks: {1}" in said
    tables = max(page.dumps.glob("fr_trace_*.txt"))
    answer = subprocess.run(
        [sys.executable, "-m", "rankandfile", "diagnose", str(tables), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    # Without times it does not tell a hang from a moment; but it is read whole.
    document = json.loads(answer.stdout)
    assert document["notes"] == []
    assert any("rank 0: gloo:all_reduce" in one["quote"] for one in document["evidence"]), answer.stdout


def test_torchs_own_server_shows_it_too(page: Page) -> None:
    """Where torch's own table of calls stops (KeyError), ours stands; and its dumps begin with the verdict."""
    until(lambda: "holds_the_lock" in fetch(f"{page.torchs}/raf")[1])  # each look is a new one
    status, shown = fetch(f"{page.torchs}/fr_trace")
    assert status == 200
    assert "{1}" in shown
    written = until(
        lambda: [one for one in page.torchs_dumps.glob("fr_trace_*.txt") if "rank 1" in one.read_text()]
    )
    assert "=== FR Trace ===" in written[-1].read_text()


def test_it_can_be_stopped_and_switched_off(ranks: Ranks, tmp_path: Path) -> None:
    for expected, env in ([True, True, ""], {}), ([False, True, "0"], {"RAF": "0"}):
        (one,) = ranks.run(1, programs.twice_and_off, RAF_RING_DIR=str(tmp_path), TMPDIR=str(tmp_path), **env)
        assert one.returned == expected, one.out
        assert "Traceback" not in one.out


def test_nodes_meet_in_the_dump_folder(tmp_path: Path) -> None:
    """Each node's page shows the ranks of the others, as of their last dump."""
    nodes = []
    for launcher in (11, 22):
        rings = tmp_path / f"node{launcher}"
        rings.mkdir()
        ring = Ring(rings / f"raf-rank{launcher}-attempt0-{launcher}-{launcher}-1.ring")
        ring.set_rank(launcher, 2)
        nodes.append(Settings(str(rings), launcher, 0, "", 2, True, dump_dir=str(tmp_path / "dumps")))
    assert [one.seen.rank for one in job.ranks(nodes[0])] == [11]
    for node in nodes:
        job.share(node, job.ranks(node))
    for node, here in zip(nodes, ([True, False], [False, True]), strict=True):
        found = job.ranks(node)
        assert [(one.seen.rank, one.here) for one in found] == list(zip((11, 22), here, strict=True))
        assert all(job.dump(one) is not None for one in found)


def test_pickles_leave_out_what_torchs_reader_stops_at() -> None:
    """Groups whose members nobody told, and names and libraries that are not on its list."""
    known = {"process_group": ("0", "default_pg"), "profiling_name": "fake:monitored_barrier"}
    unknown = {"process_group": ("9", "new"), "profiling_name": "gloo:all_reduce"}
    found = flight.for_torch(
        {
            "version": "2.10",
            "entries": [known, unknown],
            "pg_config": {"1": {"name": "0", "desc": "", "ranks": [0, 1]}},
        }
    )
    assert [entry["profiling_name"] for entry in found["entries"]] == ["gloo:barrier"]
    assert found["pg_config"]["0"]["ranks"] == "[0, 1]"


@pytest.mark.parametrize(
    ("config", "on_device", "expected"),
    [("gloo", False, "gloo"), ("cpu:gloo,cuda:nccl", True, "nccl"), ("cpu:gloo,cuda:nccl", False, "gloo"),
     ("cpu:gloo", True, "gloo"), ("", False, "gloo")],
)  # fmt: skip
def test_the_library_of_a_call_is_that_of_its_device(config: str, on_device: bool, expected: str) -> None:
    assert flight.backend(config, on_device) == expected
