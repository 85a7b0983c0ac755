"""What leaves the machine: exactly what the preview shows, and with --redact no name; what is shown has the names."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.agent.model_runs import answered, asked, command, environment, investigated
from support.agent.model_server import Server, Turn, serving
from support.agent.needs import needs_models
from support.places import EARLY_STOP

from rankandfile.agent.bench import bench_of
from rankandfile.agent.claims import check
from rankandfile.cli.errors import UserError
from rankandfile.pipeline import Options

pytestmark = [pytest.mark.slow, needs_models]

NAMES = [
    "gpu-node-17.hpc.acme.example.com",
    "jsmith",
    "ProjectFalcon",
    "hf_abcdefghijklmnopqrstuvwx",
    "10.20.30.41",
]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The incident as it looks at somebody's: names in its logs, its paths and its source."""
    folder = tmp_path_factory.mktemp("theirs") / "ProjectFalcon_jsmith"
    shutil.copytree(EARLY_STOP, folder)
    with (folder / "evidence" / "logs" / "rank_1.log").open("a") as log:
        log.write(
            f"[rank1]: RuntimeError: user=jsmith host={NAMES[0]} cannot reach 10.20.30.41:29500, token={NAMES[3]}, "
            "see /home/jsmith/ProjectFalcon/train/notes.txt\n"
        )
    settings = folder / "src" / "ProjectFalcon" / "settings.py"
    settings.parent.mkdir()
    settings.write_text(
        f"def store():\n    return '/home/jsmith/ProjectFalcon/data'  # on {NAMES[0]}\n\n\nHF_TOKEN = '{NAMES[3]}'\n"
    )
    return folder


def test_the_preview_is_what_is_sent_first(tmp_path: Path) -> None:
    arguments = ["investigate", str(EARLY_STOP / "evidence"), "--src", str(EARLY_STOP / "src"), "--jobs", "1"]
    with serving(lambda _, number: Turn(calls=[("conclude", {})])) as server:
        with environment(server.environment()):
            status, out, err = command([*arguments, "--model", server.model("anthropic"), "--dry-run"])
        assert server.requests == [] and status == 0
        head, _, body = out.partition("\n\n")
        assert f"POST http://127.0.0.1:{server.port}/v1/messages" in head and "(your key)" in head
        assert "a-key-of-nobody" not in out and "nothing was sent" in err
        assert not (tmp_path / "out").exists()
        asked(server, "anthropic", tmp_path / "out")
    assert json.loads(body) == server.requests[0]


def test_a_preview_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    arguments = ["investigate", str(EARLY_STOP / "evidence"), "--src", str(EARLY_STOP / "src"), "--jobs", "1"]
    status, out, _ = command([*arguments, "--model", "google:gemini-2.5-pro", "--dry-run"])
    assert status == 0 and out.startswith("POST https://generativelanguage.googleapis.com/")
    with pytest.raises(UserError, match="set OPENAI_API_KEY"):
        command([*arguments, "--model", "openai:gpt-5"])


def test_redacted_no_name_leaves_and_every_name_comes_back(theirs: Path, tmp_path: Path) -> None:
    seen: list[str] = []

    def plays(request: dict[str, Any], number: int) -> Turn:
        if number == 0:
            return Turn(calls=[("logs", {"around": "L2:28", "lines": 50}), ("definition", {"name": "store"})])
        if number == 1:
            # It asks with the pseudonyms that it was shown, and quotes them.
            told = request["messages"][-1]["content"]
            seen.extend(re.findall(r"(\S+/settings\.py):2:     return ('[^']+')", told)[0])
            return Turn(calls=[("source", {"file": seen[0]})])
        path, store = seen
        block = "\n".join(re.findall(r"settings\.py:[12]: (.*)", request["messages"][-1]["content"]))
        return Turn(calls=[("conclude", {"findings": [
            f"The data are at `{store}`. [{path}:2]", f"```python {path}:1-2\n{block}\n```",
        ]})])  # fmt: skip

    done, server = investigated(plays, "openai", tmp_path, "--redact", incident=theirs)
    for body in server.bodies:
        for name in NAMES:
            assert name.lower().encode() not in body.lower(), name
    assert b"cannot reach ip-" in server.bodies[1] and b"host-" in server.bodies[1]
    assert done.model["redacted"] and len(server.requests) == 3
    assert done.model["dropped"] == []
    assert done.model["findings"][0] == (
        "The data are at `'/home/jsmith/ProjectFalcon/data'`. [ProjectFalcon/settings.py:2]"
    )
    assert f"# on {NAMES[0]}" in done.document
    read = [one["arguments"] for one in done.steps if one["by"] == "model" and one["tool"] == "source"]
    assert read == [{"file": "ProjectFalcon/settings.py"}]
    bench = bench_of([theirs / "evidence"], Options(sources=(theirs / "src",), jobs=1))
    assert check(done.checked, bench, answered(done, bench)) == []


def test_gone_on_with_names_have_the_same_pseudonyms(theirs: Path, tmp_path: Path) -> None:
    raw = ("logs", {"around": "L2:28", "lines": 50})
    down = Turn(raw=b'{"error": {"message": "down for maintenance"}}', status=401)

    def told(server: Server) -> set[str]:
        return set(re.findall(r"(?:host|user|ip|secret)-[a-z2-7]{8}", json.dumps(server.requests[-1])))

    first, server = investigated(
        lambda _, number: down if number else Turn(calls=[raw]),
        "anthropic",
        tmp_path,
        "--redact",
        incident=theirs,
    )
    assert "401" in first.model["ended"] and len(told(server)) >= 3
    more = Turn(calls=[("logs", {"around": "L2:30", "lines": 1})])
    with serving(lambda _, number: Turn(calls=[("conclude", {})]) if number else more) as again:
        done = asked(again, "anthropic", tmp_path, "--resume", incident=theirs)
    assert done.model["redacted"] and done.model["ended"] == "concluded"
    assert told(again) == told(server)
    assert not [name for name in NAMES if name.encode() in again.bodies[-1]]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--model", "gpt-5"], "is no model"),
        (["--model", "http://host/v1"], "behind a #"),
        (["--model", "http://host.example/v1#x", "--max-cost", "1"], "price of .* is not known"),
        (["--model", "ollama:x", "--price", "cheap"], "dollars per million"),
        (["--model", "ollama:x", "--resume"], "nothing to resume"),
        (["--redact"], "--model"),
    ],
)
def test_what_cannot_be_asked_is_said_before(tmp_path: Path, more: list[str], says: str) -> None:
    arguments = ["investigate", str(EARLY_STOP / "evidence"), "--jobs", "1", "-o", str(tmp_path), *more]
    with pytest.raises(UserError, match=says):
        command(arguments)


def test_no_other_command_loads_the_library() -> None:
    script = (
        "import sys; from rankandfile.cli.program import application; import rankandfile.agent.playbook\n"
        "try: application()(['investigate', '--help'])\n"
        "except SystemExit: pass\n"
        "loaded = {one.partition('.')[0] for one in sys.modules}\n"
        "sys.exit(str(loaded & {'pydantic_ai', 'httpx2', 'openai', 'anthropic'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "set()"
