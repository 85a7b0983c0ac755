"""Jobs of six ranks in two kinds of groups, one of which goes wrong at a step."""

from __future__ import annotations

from support.reason.building import Call, Job, Step, Stop, loop

WORLD = "0"
FAULTS = ("absent", "skipped", "extra", "size", "operation")


def body(rank: int) -> list[Step]:
    tp = f"tp{rank // 2}"
    return [
        Call(tp, "all_reduce", 2048, "layers.py:15"),
        Call(WORLD, "all_reduce", 6436, "trainer.py:63"),
        Call(WORLD, "all_gather", 8, "metrics.py:11"),
    ]


def faulty(culprit: int, fault: str, step: int, size: int = 6, steps: int = 8, backend: str = "nccl") -> Job:
    programs = {rank: loop(body(rank), steps) for rank in range(size)}
    tp, backward, loss = body(culprit)
    broken: dict[str, list[Step]] = {
        "absent": [tp, Stop()],
        "skipped": [tp, loss],
        "extra": [tp, Call(WORLD, "broadcast", 3, "save.py:12"), backward, loss],
        "size": [tp, backward._replace(size=77), loss],  # type: ignore[union-attr]
        "operation": [tp, backward._replace(op="reduce", site="save.py:12"), loss],  # type: ignore[union-attr]
    }
    normal = body(culprit)
    programs[culprit] = [*loop(normal, step), *broken[fault], *loop(normal, steps - step - 1)]
    groups = {WORLD: list(range(size)), **{f"tp{i}": [2 * i, 2 * i + 1] for i in range(size // 2)}}
    descs = {f"tp{i}": "mesh_tp" for i in range(size // 2)}
    return Job(groups, programs, backend=backend, descs=descs)
