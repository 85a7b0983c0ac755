"""The simulation against real processes: the same plans, by gloo and by the simulator."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.places import TESTS

from rankandfile.lab.sim.layout import Layout, named
from rankandfile.lab.sim.machine import Machine, Rules
from rankandfile.lab.sim.ops import Op, Sync, Transfer, all_reduce

pytestmark = [
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

_BIG = 1 << 20


def _reduce(group: str = "world") -> list[Any]:
    return ["all_reduce", group, None, 16]


def _send(peer: int) -> list[Any]:
    return ["send", "world", peer, _BIG]


def _recv(peer: int) -> list[Any]:
    return ["recv", "world", peer, _BIG]


def _plan(groups: dict[str, list[int]], *ranks: list[list[Any]]) -> dict[str, Any]:
    return {"world_size": len(ranks), "groups": groups, "ranks": list(ranks)}


_PAIRS = {"left": [0, 1], "right": [2, 3]}
_SQUARE = {"north": [0, 1], "east": [1, 2], "south": [2, 3], "west": [0, 3]}


def _skip() -> dict[str, Any]:
    """Rank 2 leaves out one reduction of its pair: rank 3 waits there, and the others in the world's."""
    full = [
        [
            _reduce(),
            _reduce("left" if rank < 2 else "right"),
            _reduce("left" if rank < 2 else "right"),
            _reduce(),
        ]
        * 3
        for rank in range(4)
    ]
    del full[2][-2]
    return _plan(_PAIRS, *full)


def _cycle() -> dict[str, Any]:
    orders = [["west", "north"], ["north", "east"], ["east", "south"], ["south", "west"]]
    return _plan(_SQUARE, *([_reduce(), *(_reduce(side) for side in order), _reduce()] for order in orders))


def _unmatched() -> dict[str, Any]:
    """The first message is received; the second send finds nobody."""
    return _plan(
        {}, [_reduce(), _send(1), _send(1), _reduce()], [_reduce(), _recv(0), _reduce()], [_reduce()] * 2
    )


def _both_send() -> dict[str, Any]:
    warm = [_send(1), _recv(1)], [_recv(0), _send(0)]
    return _plan({}, [*warm[0], _send(1), _recv(1)], [*warm[1], _send(0), _recv(0)])


def _healthy() -> dict[str, Any]:
    relay = [[_send(1)], [_recv(0), _send(2)], [_recv(1)]]
    return _plan({}, *([_reduce(), *part, _reduce()] for part in relay))


PLANS = [_skip(), _cycle(), _unmatched(), _both_send(), _healthy()]


def _program(rank: int, plan: dict[str, Any]) -> Iterator[Op]:
    for op, group, peer, size in plan["ranks"][rank]:
        if op == "all_reduce":
            yield all_reduce(group, size, "loss_reduce")
        else:
            yield Transfer(op, "world", peer, (size,), "warm_recv_recv_prev", "Float")
        yield Sync("metric_item")  # gloo's calls return when they are done


def _simulated(plan: dict[str, Any]) -> dict[str, Any]:
    layout: Layout = named(plan["world_size"], list(plan["groups"].items()))
    hosts = Machine(layout, lambda rank: _program(rank, plan), Rules(eager_init=True)).run()
    issued = []
    for host in hosts:
        lines = []
        for record in host.records:
            name, _, peers = record.what.op.partition(" ")
            peer = peers.replace("<-", "->").partition("->")[2] or "None"
            lines.append(f"{name} {layout.groups[record.what.group].role} {peer}")
        issued.append(lines)
    return {"issued": issued, "stuck": [host.rank for host in hosts if host.ending is None]}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("gloo")
    (folder / "plans.json").write_text(json.dumps(PLANS))
    script = TESTS / "support" / "lab" / "gloo_plans.py"
    command = [sys.executable, str(script), str(folder / "plans.json"), str(folder / "results.json")]
    subprocess.run(command, check=True, timeout=300)
    results: list[dict[str, Any]] = json.loads((folder / "results.json").read_text())
    return results


@pytest.mark.lab
@pytest.mark.torch
@pytest.mark.parametrize(
    "number", range(len(PLANS)), ids=["skip", "cycle", "unmatched", "both-send", "healthy"]
)
def test_ranks_issue_and_stick_as_real_ones_do(real: list[dict[str, Any]], number: int) -> None:
    assert _simulated(PLANS[number]) == real[number]
