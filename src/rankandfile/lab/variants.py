"""The same incident with less or worse evidence: each variant copies an incident and damages the copy.

What an analyser can still be expected to say is adjusted: `removed` names what is gone, and the fields about the
dumps are emptied wherever an honest answer from the dumps alone has become impossible.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from rankandfile.lab import truth as truths
from rankandfile.lab.truth import Truth

_SKEW_S = 187
_KEEP = 12
_PATHS = ("skipped", "extra", "substituted", "swapped")
_DAY_NS = 86_400_000_000_000
_LOG_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?=,\d{3} )")

Damage = Callable[[Path, Truth], Truth]


def make(incident: Path, variant: str, out_dir: Path) -> Path:
    """Write this variant of the incident to `out_dir`, which is replaced."""
    damage = VARIANTS[variant]
    if out_dir.exists():
        shutil.rmtree(out_dir)
    shutil.copytree(incident, out_dir)
    truth = truths.read(out_dir)
    changed = damage(out_dir, truth)
    name = f"{truth.name}~{variant}"
    truths.write(msgspec.structs.replace(changed, name=name, removed=[*truth.removed, variant]), out_dir)
    return out_dir


def _blind(truth: Truth) -> Truth:
    """From the dumps alone neither the culprit nor the cause can be told any more."""
    return msgspec.structs.replace(
        truth, culprits_from_dumps=[], cause_from_dumps="", decidable_from_dumps=False
    )


def _unclear(truth: Truth) -> Truth:
    """The culprit can still be told from the dumps, the cause cannot."""
    return msgspec.structs.replace(truth, cause_from_dumps="", decidable_from_dumps=False)


def _dumps(incident: Path) -> dict[int, Path]:
    """Each rank's dump, by the number at the end of the file's stem."""
    out = {}
    for path in sorted((incident / "evidence" / "dumps").rglob("*")):
        if path.is_file() and (match := re.search(r"(\d+)(?:\.\w+)?$", path.name)):
            out[int(match[1])] = path
    return out


def _edit_dumps(incident: Path, edit: Callable[[int, dict[str, Any]], None]) -> None:
    """Rewrite every dump after `edit`; pickles stay pickles, with the opcodes torch itself uses."""
    for rank, path in _dumps(incident).items():
        content = _content(path)
        if content is None:
            continue
        is_json, written = path.read_bytes()[:1] == b"{", path.stat().st_mtime_ns
        edit(rank, content)
        path.write_bytes(json.dumps(content).encode() if is_json else pickle.dumps(content, protocol=2))
        os.utime(path, ns=(written, written))


def _content(path: Path) -> dict[str, Any] | None:
    """The lab's own dump of this very run, so not a stranger's file; None if the scenario itself left it damaged."""
    data = path.read_bytes()
    try:
        content: dict[str, Any] = json.loads(data) if data[:1] == b"{" else pickle.loads(data)
    except (ValueError, EOFError, pickle.UnpicklingError):
        return None
    return content


def lost_dump_of_culprit(incident: Path, truth: Truth) -> Truth:
    """The culprit left no dump, which does not prove anything about it."""
    dumps = _dumps(incident)
    for rank in truth.culprits or [truth.world_size - 1]:
        if rank in dumps:
            dumps[rank].unlink()
    return _blind(truth)


def lost_dump_of_victim(incident: Path, truth: Truth) -> Truth:
    """An innocent rank left no dump, and must not be blamed for it."""
    innocent = [rank for rank in _dumps(incident) if rank not in truth.culprits]
    if innocent:
        _dumps(incident)[innocent[-1]].unlink()
        return _without_witness(truth, innocent[-1])
    return _unclear(truth)


def _without_witness(truth: Truth, lost: int) -> Truth:
    """Who took another path shows against those who did not: against one remaining member, it is either of the two,
    and against none, nothing shows."""
    members = set(truth.divergence.members)
    witnesses = members - set(truth.culprits) - {lost}
    if truth.divergence.kind not in _PATHS or lost not in members or len(witnesses) > 1:
        return _unclear(truth)
    tellable = [rank for rank in truth.culprits_from_dumps if rank not in members]
    return msgspec.structs.replace(_unclear(truth), culprits_from_dumps=tellable)


def truncated_dump(incident: Path, truth: Truth) -> Truth:
    """One dump ends in the middle, as when the process was killed while writing."""
    dumps = _dumps(incident)
    rank = next((r for r in truth.culprits if r in dumps), min(dumps, default=None))
    if rank is not None:
        data, written = dumps[rank].read_bytes(), dumps[rank].stat().st_mtime_ns
        dumps[rank].write_bytes(data[: len(data) * 3 // 5])
        os.utime(dumps[rank], ns=(written, written))
    if truth.divergence.kind in _PATHS:
        # The other culprits' dumps are whole, and still show what they left out or added.
        others = [culprit for culprit in truth.culprits_from_dumps if culprit != rank]
        return msgspec.structs.replace(_blind(truth), culprits_from_dumps=others)
    return _blind(truth)


def wrapped_ring(incident: Path, truth: Truth) -> Truth:
    """The recorder kept the last few calls only, not equally many on every rank."""

    def keep_last(rank: int, dump: dict[str, Any]) -> None:
        dump["entries"] = dump.get("entries", [])[-(_KEEP + rank % 3) :]

    lengths = [_length(path) for path in _dumps(incident).values()]
    _edit_dumps(incident, keep_last)
    if truth.divergence.kind in _PATHS:
        # Two members tell who diverged by their common past, and three whose steps are longer than the rings, by the
        # place where they diverged: neither is kept.
        few = len(truth.divergence.members) <= 3
        if few and max(lengths, default=0) > _KEEP + 2:
            return _blind(truth)
    return _unclear(truth)


def _length(path: Path) -> int:
    return len((_content(path) or {}).get("entries", []))


def no_frames(incident: Path, truth: Truth) -> Truth:
    """TORCH_INCLUDE_STACK_TRACE was off."""

    def drop(_rank: int, dump: dict[str, Any]) -> None:
        for entry in dump.get("entries", []):
            entry.pop("frames", None)

    _edit_dumps(incident, drop)
    return _without_sites(truth)


def _without_sites(truth: Truth) -> Truth:
    """Calls that differ in nothing but their call sites do not differ any more."""
    same = len({cohort.op for cohort in truth.divergence.cohorts}) == 1
    few = len(truth.divergence.members) <= 3
    return _blind(truth) if truth.divergence.kind in _PATHS and same and few else _unclear(truth)


def as_json(incident: Path, truth: Truth) -> Truth:
    """Collected over HTTP: JSON in torch's own spelling, which never has frames."""
    for rank, path in _dumps(incident).items():
        dump, written = _content(path), path.stat().st_mtime_ns
        if dump is None or path.read_bytes()[:1] == b"{":
            continue
        for entry in dump.get("entries", []):
            entry.pop("frames", None)
            # Tuples have no JSON, and a time that was not noticed is 0 there. Older formats lack these keys.
            for key in entry.keys() & {"time_discovered_started_ns", "time_discovered_completed_ns"}:
                entry[key] = entry[key] or 0
        status = dump.get("pg_status", {})
        dump["pg_status"] = {g: {k: str(v) for k, v in s.items()} for g, s in status.items()}
        dump.setdefault("nccl_comm_state", {})
        if not dump.get("entries"):
            dump.pop("entries", None)
        path.unlink()
        text = json.dumps(dump, sort_keys=True, separators=(",", ":"))
        target = path.parent / f"fr_trace_json_{rank}.json"
        target.write_text(text)
        os.utime(target, ns=(written, written))
    return _without_sites(truth)


def no_logs(incident: Path, truth: Truth) -> Truth:
    """The logs went with the pod."""
    shutil.rmtree(incident / "evidence" / "logs", ignore_errors=True)
    return truth


def no_stacks(incident: Path, truth: Truth) -> Truth:
    """Nobody looked at the processes while they hung."""
    shutil.rmtree(incident / "evidence" / "stacks", ignore_errors=True)
    return truth


def only_logs(incident: Path, truth: Truth) -> Truth:
    """All that was kept is what the job printed."""
    for name in ("dumps", "stacks"):
        shutil.rmtree(incident / "evidence" / name, ignore_errors=True)
    (incident / "evidence" / "exits.json").unlink(missing_ok=True)
    return _blind(truth)


def clock_skew(incident: Path, truth: Truth) -> Truth:
    """The clock of the second host is three minutes ahead."""
    ahead = range(truth.world_size // 2, truth.world_size)

    def shift(rank: int, dump: dict[str, Any]) -> None:
        for entry in dump.get("entries", []) if rank in ahead else ():
            entry["time_created_ns"] += _SKEW_S * 1_000_000_000

    _edit_dumps(incident, shift)
    for rank in ahead:
        path = incident / "evidence" / "logs" / f"rank_{rank}.log"
        if path.exists():
            path.write_text(_LOG_TIME.sub(_later, path.read_text()))
    return truth


def _later(match: re.Match[str]) -> str:
    moment = datetime.fromisoformat(match[0]) + timedelta(seconds=_SKEW_S)
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def stale_dump(incident: Path, truth: Truth) -> Truth:
    """In place of the culprit's dump lies one of yesterday's attempt, which got a third as far."""
    stale = set(truth.culprits or [truth.world_size - 1])
    if len(stale) == truth.world_size:
        # Where all are culprits: of one of them, or the folder would hold nothing of today's attempt.
        stale = set(truth.culprits[-1:])

    def age(rank: int, dump: dict[str, Any]) -> None:
        if rank in stale:
            entries = dump.get("entries", [])
            dump["entries"] = entries[: max(1, len(entries) // 3)]
            for entry in dump["entries"]:
                entry["time_created_ns"] -= _DAY_NS
                entry["retired"] = True

    _edit_dumps(incident, age)
    return _blind(truth)


def renamed(incident: Path, truth: Truth) -> Truth:
    """One folder for each host, and the file names of torch 2.13's default path."""
    for rank, path in _dumps(incident).items():
        folder = path.parent / f"node-{rank // 2:02d}"
        folder.mkdir(exist_ok=True)
        path.rename(folder / f"comm_lib_trace_rank_{rank}")
    logs = incident / "evidence" / "logs"
    for path in sorted(logs.glob("rank_*.log")):
        path.rename(logs / f"job-7f3a-worker-{path.stem.removeprefix('rank_')}.stderr")
    return truth


VARIANTS: dict[str, Damage] = {
    damage.__name__: damage
    for damage in (
        lost_dump_of_culprit,
        lost_dump_of_victim,
        truncated_dump,
        wrapped_ring,
        no_frames,
        as_json,
        no_logs,
        no_stacks,
        only_logs,
        clock_skew,
        stale_dump,
        renamed,
    )
}
