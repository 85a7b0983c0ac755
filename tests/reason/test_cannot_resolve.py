"""Ranks that ask in vain for the name of the host where all are to meet, and those that did so for a moment."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankandfile
from rankandfile.model.diagnosis import Verdict

GAI = "[W socket.cpp:697] [c10d] The {family} network addresses of (trn-0.trn, 29400) cannot be retrieved (gai error: -2 - Name or service not known)."


def spoken(asks: tuple[int, ...] = (3,), later: str = "") -> list[tuple[int, str]]:
    lines = [(rank, f"rank {rank}/4 begins") for rank in range(4)]
    lines += [
        (rank, f"rank {rank}: waiting for the other ranks in rendezvous")
        for rank in range(4)
        if rank not in asks
    ]
    for family in ("IPv6", "IPv4", "IPv6", "IPv4", "IPv6"):
        lines += [(rank, GAI.format(family=family)) for rank in asks]
    if later:
        lines += [(rank, later) for rank in asks]
    return lines


def plain(lines: list[tuple[int, str]]) -> dict[str, str]:
    return {
        f"rank{rank}.log": "".join(f"{text}\n" for who, text in lines if who == rank) for rank in range(4)
    }


def elastic(lines: list[tuple[int, str]]) -> dict[str, str]:
    hits = [
        {
            "_index": "logs",
            "_source": {
                "@timestamp": f"2026-01-05T10:{number // 60:02}:{number % 60:02}.000Z",
                "message": text,
                "kubernetes": {"pod_name": f"trn-{rank}", "container_name": "main"},
            },
        }
        for number, (rank, text) in enumerate(lines)
    ]
    return {"answer.json": json.dumps({"took": 3, "hits": {"total": {"value": len(hits)}, "hits": hits}})}


def splunk(lines: list[tuple[int, str]]) -> dict[str, str]:
    rows = [
        {
            "preview": False,
            "result": {
                "_raw": text,
                "_time": f"2026-01-05T10:{n // 60:02}:{n % 60:02}.000+00:00",
                "pod": f"trn-{rank}",
            },
        }
        for n, (rank, text) in enumerate(lines)
    ]
    return {"export.json": "".join(f"{json.dumps(row)}\n" for row in rows)}


def verdict(folder: Path, files: dict[str, str]) -> Verdict:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


@pytest.mark.parametrize("form", [plain, elastic, splunk])
def test_who_asks_in_vain_holds_up_the_setup(tmp_path: Path, form: object) -> None:
    assert callable(form)
    found = verdict(tmp_path, form(spoken()))
    assert (found.cause, [one.rank for one in found.culprits]) == ("init_stuck", [3])
    assert "resolve" in found.sentence


def test_who_is_connected_after_all_is_not_named(tmp_path: Path) -> None:
    found = verdict(tmp_path, plain(spoken(later="rank 3: connected, building the model")))
    assert not found.culprits


def test_where_most_ask_in_vain_nobody_of_them_is_named(tmp_path: Path) -> None:
    found = verdict(tmp_path, plain(spoken(asks=(1, 2, 3))))
    assert not found.culprits
