"""Recorded conversations: what was sent and, byte for byte, what came back, for each protocol.

What the case determines (the draft, the answers of the tools) stands in a recording by name, and is worked out from
the case when it is played: `{opening}`, `{discipline}`, `{answer 1}`. Everything else of a request is compared.

    cd tests; python -m support.agent.conversations      # records them anew, as this file plays it
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankandfile.agent.bench import Bench
from rankandfile.agent.llm.budget import Budget
from rankandfile.agent.llm.discipline import DISCIPLINE, opening
from rankandfile.agent.llm.hidden_names import NamesAsTheyAre
from rankandfile.agent.playbook import draft
from support.agent.model_runs import investigated
from support.agent.model_server import Plays, Turn, anthropic, openai
from support.places import EARLY_STOP

FOLDER = Path(__file__).parent / "recordings"
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("explain", {"rank": 2}),
    ("source", {"file": "trainer.py", "first": 36, "last": 44}),
    ("test_hypothesis", {"kind": "no_call_after", "ranks": "2", "group": "default_pg", "seq": 85}),
]
CONCLUSION: dict[str, Any] = {
    "findings": [
        "Rank 2 made the barrier #85 at parallel.py:52. [D2#84]",
        "Whether it goes on is decided by `if self.out_of_patience():`. [trainer.py:40]",
        "```python trainer.py:40\n            if self.out_of_patience():\n```",
    ],
    "cause": "early_exit",
    "culprits": "2",
    "confidence": "supported",
    "file": "trainer.py",
    "line": 40,
    "condition": "if self.out_of_patience():",
    "evidence": ["D2#84", "D0#84"],
}
UNCITED = [*CONCLUSION["findings"], "Rank 0 waited."]
TURNS = [
    Turn("Where does rank 2 stand, and by what?", [*QUESTIONS[:2]], (5210, 96)),
    Turn("", [QUESTIONS[2]], (6120, 64)),
    Turn("It holds.", [("conclude", {**CONCLUSION, "findings": UNCITED})], (6300, 310)),
    Turn("", [("conclude", CONCLUSION)], (6800, 290)),
]  # fmt: skip


def names_of(bench: Bench) -> dict[str, str]:
    """Text -> what stands for it in a recording."""
    from rankandfile.agent.llm.replies import Replies  # which loads the libraries of models

    found = draft(bench)
    names = {opening(found.document.markdown()): "{opening}", DISCIPLINE: "{discipline}"}
    replies = Replies(bench, found.journal, Budget(), NamesAsTheyAre(), lambda _: None)
    for number, (tool, arguments) in enumerate(QUESTIONS, 1):
        names[replies.page_of(tool, arguments)] = f"{{answer {number}}}"
    return names


def named(value: Any, names: dict[str, str]) -> Any:
    """The request with names for what the case determines, and without what each release of a library words anew."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list):
        return [named(one, names) for one in value]
    if isinstance(value, dict):
        return {key: named(one, names) for key, one in value.items()}
    return value


def essence(request: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    tools = [one.get("name") or one["function"]["name"] for one in request["tools"]]
    kept = {key: request[key] for key in ("model", "messages", "system", "stream") if key in request}
    return {**named(kept, names), "tools": tools}


def recorded(protocol: str) -> list[dict[str, Any]]:
    lines = (FOLDER / f"{protocol}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def playing(protocol: str) -> Plays:
    exchanges = recorded(protocol)
    return lambda _, number: Turn(raw=exchanges[number]["response"].encode())


def _record() -> Iterator[Path]:
    from rankandfile.agent.bench import bench_of
    from rankandfile.pipeline import Options

    example = EARLY_STOP
    names = names_of(bench_of([example / "evidence"], Options(sources=(example / "src",), jobs=1)))
    FOLDER.mkdir(exist_ok=True)
    for protocol, encode in (("anthropic", anthropic), ("openai", openai)):
        with tempfile.TemporaryDirectory() as folder:
            _, server = investigated(lambda _, number: TURNS[number], protocol, Path(folder))
        lines = [
            json.dumps(
                {"request": essence(request, names), "response": encode(TURNS[number], number + 1).decode()}
            )
            for number, request in enumerate(server.requests)
        ]
        path = FOLDER / f"{protocol}.jsonl"
        path.write_text("\n".join(lines).replace(f"127.0.0.1:{server.port}", "host") + "\n", encoding="utf-8")
        yield path


if __name__ == "__main__":
    for written in _record():
        sys.stdout.write(f"{written}\n")
