"""The rank that a process tells in its title or its command line, as servers of models name their workers.

`sglang::scheduler_TP1`, `VLLM::Worker_TP0`, `RANK=3 python train.py`, `python train.py --rank 3`. A place on one axis
is the rank only where there is no other axis that it is not the first of.
"""

from __future__ import annotations

import re

_TOLD = re.compile(
    r"(?:^|\s)(?:(?:(?:OMPI_COMM_WORLD|MV2_COMM_WORLD|PMIX?|WORLD|GLOBAL)_)?RANK=|JAX_PROCESS_ID="
    r"|--(?:(?:(?:global|world|machine)[-_])?rank|process[-_](?:id|index)|task[-_](?:id|index))[= ])(\d{1,6})(?=\s|$)"
)
_PLACE = re.compile(r"(?:^|\s)(?:(?:SLURM_LOCALID|LOCAL_RANK)=|--local[-_]rank[= ])(\d{1,4})(?=\s|$)")
_WORKER = re.compile(
    r"(?:sglang::|VLLM::|ray::)\S*?((?:_(?:TP|PP|DP|EP|CP|DCP)\d{1,6})+)(?=\W|$)", re.IGNORECASE
)
_AXIS = re.compile(r"_([A-Z]+)(\d+)", re.IGNORECASE)


def rank_in(title: str) -> int | None:
    if match := _TOLD.search(title):
        return int(match[1])
    worker = _WORKER.search(title)
    if worker is None:
        return None
    places = {axis.upper(): int(place) for axis, place in _AXIS.findall(worker[1])}
    # An expert's place repeats that of the tensor it is cut along.
    others = [place for axis, place in places.items() if axis not in ("TP", "EP")]
    return places["TP"] if "TP" in places and not any(others) else None


def place_in(title: str) -> int | None:
    """Its number among the processes of its machine, where its command line tells that only."""
    match = _PLACE.search(title)
    return int(match[1]) if match else None
