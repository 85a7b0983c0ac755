"""A model's investigation from the first request to the files, by recorded conversations; gone on with; cut short."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.agent.conversations import CONCLUSION, QUESTIONS, essence, names_of, playing, recorded
from support.agent.model_runs import asked, assert_nothing_false, investigated
from support.agent.model_server import Turn, serving
from support.agent.needs import needs_models
from support.capture.waiting import until
from support.places import EARLY_STOP

from rankandfile.agent.bench import Bench

pytestmark = [pytest.mark.slow, needs_models]


@pytest.mark.parametrize("protocol", ["anthropic", "openai"])
def test_a_recorded_conversation_is_played_again(early_stop: Bench, tmp_path: Path, protocol: str) -> None:
    done, server = investigated(playing(protocol), protocol, tmp_path)
    assert_nothing_false(done, early_stop)
    names = names_of(early_stop)
    for request, exchange in zip(server.requests, recorded(protocol), strict=True):
        assert essence(request, names) == exchange["request"]
    assert done.model["findings"] == CONCLUSION["findings"]
    assert done.model["sent_back"] == 1 and done.model["dropped"] == []
    verdict = done.model["verdict"]
    assert verdict["accepted"] and verdict["stance"] == "confirms" and verdict["culprits"] == "2"
    spent = done.model["spent"]
    assert (spent["requests"], spent["steps"]) == (4, 3)
    assert (spent["input_tokens"], spent["output_tokens"]) == (24430, 760)
    # Whose is what: the steps say who asked, the document has a section for each.
    own = [(one["tool"], one["arguments"]) for one in done.steps if one["by"] == "model"]
    assert own[:3] == QUESTIONS and {one["by"] for one in done.steps} == {"playbook", "model"}
    assert "## What the model adds\n\n- Rank 2 made the barrier" in done.document
    assert (
        "## The verdict of the model\n\n- The model confirms a verdict of the rules: early" in done.document
    )
    assert "step 3 of 30: test_hypothesis" in done.said


@pytest.mark.lab
def test_an_interrupted_one_keeps_what_there_is_and_goes_on(early_stop: Bench, tmp_path: Path) -> None:
    def first(_: dict[str, Any], number: int) -> Turn:
        return Turn("", [QUESTIONS[number]], stalls=number == 2)

    with serving(first) as server:
        command = [sys.executable, "-m", "rankandfile", "investigate", str(EARLY_STOP / "evidence"), "--src"]
        command += [str(EARLY_STOP / "src"), "-o", str(tmp_path), "--jobs", "1", "--model", "openai:test"]
        bases = {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.port}/v1", "OPENAI_API_KEY": "a-key"}
        env = {**os.environ, **server.environment(), **bases}
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        until(lambda: len(server.requests) >= 3 or process.poll() is not None)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert (
        "HANG: rank 2 left early" in out
        and "did not conclude: it was interrupted" in out
        and "Traceback" not in err
    )
    assert "The answer to explain, as the model asked" in (tmp_path / "investigation.md").read_text()
    kept = (tmp_path / "conversation.jsonl").read_text().splitlines()
    assert len(kept) == 6 and (tmp_path / "conversation.jsonl").stat().st_mode & 0o077 == 0
    # The last line may be torn: it is left out.
    with (tmp_path / "conversation.jsonl").open("a") as file:
        file.write('[{"parts": [')

    def second(_: dict[str, Any], number: int) -> Turn:
        return Turn("", [("conclude", CONCLUSION)])

    with serving(second) as server:
        bases = {"OPENAI_BASE_URL": f"http://127.0.0.1:{server.port}/v1", "OPENAI_API_KEY": "a-key"}
        server.environment = lambda: {**bases, "NO_PROXY": "127.0.0.1"}  # type: ignore[method-assign]
        done = asked(server, "openai", tmp_path, "--resume", model="openai:test")
    assert_nothing_false(done, early_stop)
    assert done.model["ended"] == "concluded" and len(server.requests) == 1
    assert "step" not in done.said.replace("steps  ", "")
    sent = json.dumps(server.requests[0]["messages"])
    assert "explain" in sent and "trainer.py:40:" in sent
    assert [one["tool"] for one in done.steps if one["by"] == "model"][:2] == ["explain", "source"]
    # What has concluded is not asked again.
    with serving(second) as server:
        server.environment = lambda: {**bases, "NO_PROXY": "127.0.0.1"}  # type: ignore[method-assign]
        again = asked(server, "openai", tmp_path, "--resume", model="openai:test")
    assert server.requests == [] and again.model["findings"] == done.model["findings"]


@pytest.mark.parametrize(
    ("limits", "usage", "says"),
    [
        (["--max-tokens", "20000"], (9000, 400), "20,000 tokens"),
        (["--max-tokens", "20000"], (0, 0), "20,000 tokens"),
        (["--max-cost", "0.1", "--price", "3,15"], (9000, 400), r"$0.1 were"),
    ],
    ids=["tokens", "tokens that nobody counts", "money"],
)  # fmt: skip
def test_what_it_may_take_is_held(
    early_stop: Bench, tmp_path: Path, limits: list[str], usage: tuple[int, int], says: str
) -> None:
    def plays(_: dict[str, Any], number: int) -> Turn:
        return Turn(calls=[("calls", {"cursor": number})], usage=usage)

    done, server = investigated(plays, "openai", tmp_path, *limits)
    assert_nothing_false(done, early_stop)
    assert says in done.model["ended"]
    spent = done.model["spent"]
    assert 0 < spent["input_tokens"] + spent["output_tokens"] <= 40_000
    if "--max-tokens" in limits:
        assert spent["input_tokens"] + spent["output_tokens"] <= 20_000
        assert spent["estimated"] is (usage == (0, 0))
    else:
        assert spent["cost"] == pytest.approx((spent["input_tokens"] * 3 + spent["output_tokens"] * 15) / 1e6)
        assert 0 < spent["cost"] <= 0.1
    # No answer may be longer than what is left.
    assert all(one.get("max_tokens") or one["max_completion_tokens"] <= 20_000 for one in server.requests)
