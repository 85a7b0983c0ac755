"""What a job is doing, as the textfile that Prometheus' node exporter collects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rankandfile.capture.live.standing import Stands, lags
from rankandfile.model.diagnosis import SURE

#: Metric -> what it says.
_HELP = {
    "raf_hang": "1 while a verdict of a hang stands, else 0",
    "raf_cause": "1 for the cause of the hang, by its word and how sure it is",
    "raf_culprit": "1 for each rank that the verdict names",
    "raf_ranks": "Ranks, by where they stand: waits, runs, sleeps, stopped, gone, unknown",
    "raf_rank_behind": "Collectives that the rank is behind the first of its group",
    "raf_rank_since_seconds": "For how long the rank has stood where it stands",
}


_SAID: dict[object, str] = dict(SURE.items())


class Sample(NamedTuple):
    metric: str
    labels: dict[str, str]
    value: float


def of_rows(rows: Sequence[Stands]) -> list[Sample]:
    states = [row.state for row in rows]
    found = [Sample("raf_ranks", {"state": one}, states.count(one)) for one in sorted(set(states))]
    found += [
        Sample("raf_rank_behind", {"rank": str(rank)}, late) for rank, late in sorted(lags(rows).items())
    ]
    for row in rows:
        if row.since is not None and row.rank >= 0:
            labels = {"rank": str(row.rank), "state": row.state}
            found.append(Sample("raf_rank_since_seconds", labels, round(row.since, 1)))
    return found


def of_case(case: Path | None) -> list[Sample]:
    """The verdict of a case's diagnosis; of no case, that there is no hang."""
    try:
        verdicts = json.loads((case / "diagnosis.json").read_bytes())["verdicts"] if case is not None else []
    except (OSError, ValueError, LookupError, TypeError):
        return [Sample("raf_hang", {}, 1)]
    hangs = [one for one in verdicts if one.get("hang")]
    found = [Sample("raf_hang", {}, int(bool(hangs)))]
    for one in hangs:
        # As people say it, who read it on a board.
        labels = {"cause": str(one.get("cause")), "confidence": _SAID.get(one.get("confidence"), "")}
        found.append(Sample("raf_cause", labels, 1))
        found += [
            Sample("raf_culprit", {"rank": str(who.get("rank"))}, 1) for who in one.get("culprits") or ()
        ]
    return found


def write(path: Path, samples: Sequence[Sample]) -> None:
    """Whole or not at all: whoever collects it may come at any time. Raises OSError."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text("".join(f"{line}\n" for line in _lines(samples)), encoding="utf-8")
    new.replace(path)


def _lines(samples: Sequence[Sample]) -> Iterator[str]:
    for metric, said in _HELP.items():
        of_it = {tuple(sorted(one.labels.items())): one.value for one in samples if one.metric == metric}
        if of_it:
            yield f"# HELP {metric} {said}"
            yield f"# TYPE {metric} gauge"
        for labels, value in of_it.items():
            told = ",".join(f'{name}="{_escaped(word)}"' for name, word in labels)
            yield f"{metric}{f'{{{told}}}' if told else ''} {value:g}"


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
