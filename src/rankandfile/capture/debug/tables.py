"""All ranks' calls as tables: those of torch's debug server, with its titles, made from rings.

torch's own server stops on gloo (its dumps name no groups there), and waits for ranks that cannot answer. Ranks that
ask for different things at one number have a row each, in which the others are missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = tuple[object, ...]
#: The newest collectives of each group; a page of thousands is read by nobody.
NEWEST = 200

_COLLECTIVE = (
    "id", "group_id", "pass_check", "collective_seq_id", "p2p_seq_id", "record_id", "pg_desc", "collective_name",
    "input_sizes", "output_sizes", "expected_ranks", "collective_state", "missing_ranks",
)  # fmt: skip
_CALL = (
    "id",
    "collective_id",
    "group_id",
    "global_rank",
    "traceback_id",
    "collective_type",
    "sizes",
    "state",
    "site",
)


def text(dumps: Mapping[int, Mapping[str, Any]], newest: int = NEWEST) -> str:
    """`dumps`: rank -> its dump, as `flight.for_torch` makes it."""
    groups = _groups(dumps)
    collectives, calls = _collectives(dumps, groups, newest)
    members = [(name, rank) for name, (_, ranks) in groups.items() for rank in ranks]
    parts = ["=== FR Trace ==="]
    parts += [
        "--- Groups ---",
        plain(("id", "desc", "size"), [(n, d, len(r)) for n, (d, r) in groups.items()]),
    ]
    parts += ["--- Memberships ---", plain(("group_id", "global_rank"), members)]
    parts += ["--- Collectives ---", plain(_COLLECTIVE, collectives)]
    parts += ["--- NCCL Calls ---", plain(_CALL, calls)]
    return "\n".join(parts) + "\n"


def _groups(dumps: Mapping[int, Mapping[str, Any]]) -> dict[str, tuple[str, list[int]]]:
    found: dict[str, tuple[str, list[int]]] = {}
    for dump in dumps.values():
        for name, group in dump["pg_config"].items():
            ranks = [int(word) for word in group["ranks"].strip("[]").split(",") if word.strip()]
            found.setdefault(name, (group["desc"], ranks))
    return found


def _collectives(
    dumps: Mapping[int, Mapping[str, Any]], groups: Mapping[str, tuple[str, list[int]]], newest: int
) -> tuple[list[Row], list[Row]]:
    together: dict[Row, dict[int, Mapping[str, Any]]] = {}
    latest: dict[str, int] = {}
    for rank, dump in dumps.items():
        for entry in dump["entries"]:
            together.setdefault(_key(entry), {})[rank] = entry
            name = entry["process_group"][0]
            latest[name] = max(latest.get(name, 0), entry["collective_seq_id"])
    collectives: list[Row] = []
    calls: list[Row] = []
    order = sorted(
        together.values(), key=lambda entries: min(one["time_created_ns"] for one in entries.values())
    )
    for entries in order:
        first = entries[min(entries)]
        name = first["process_group"][0]
        if first["collective_seq_id"] <= latest[name] - newest:
            continue
        expected = set(entries) if first["is_p2p"] else set(groups[name][1])
        number = len(collectives)
        ended = all(one["retired"] for one in entries.values())
        collectives.append((
            number, name, True, first["collective_seq_id"], first["p2p_seq_id"], first["record_id"],
            f"{name}:{groups[name][0]}", first["profiling_name"], first["input_sizes"], first["output_sizes"],
            expected, "completed" if ended else "scheduled", (expected - set(entries)) or None,
        ))  # fmt: skip
        for rank, entry in sorted(entries.items()):
            state = "completed" if entry["retired"] else "scheduled"
            calls.append((
                len(calls), number, name, rank, 0, entry["profiling_name"], entry["input_sizes"], state, _site(entry)
            ))  # fmt: skip
    return collectives, calls


def _key(entry: Mapping[str, Any]) -> Row:
    """What calls that belong together have in common."""
    name, said = entry["process_group"][0], entry["profiling_name"]
    if entry["is_p2p"]:
        # A message is between two; its name says which.
        return name, entry["p2p_seq_id"], _pair(entry)
    # Ranks legally give different sizes to these.
    uneven = any(word in said for word in ("all_to_all", "scatter", "gather"))
    return name, entry["collective_seq_id"], said, "" if uneven else repr(entry["input_sizes"])


def _pair(entry: Mapping[str, Any]) -> str:
    word = str(entry["profiling_name"]).rpartition(" ")[2]
    own, arrow, peer = word.partition("->") if "->" in word else word.partition("<-")
    return f"{own}-{peer}" if arrow == "->" else f"{peer}-{own}"


def _site(entry: Mapping[str, Any]) -> str:
    frames: Sequence[Mapping[str, Any]] = entry["frames"] or ()
    for frame in frames:
        if "/torch/" not in frame["filename"]:
            return f"{frame['filename']}:{frame['line']}"
    return ""


def plain(titles: Sequence[str], rows: Sequence[Row]) -> str:
    """Columns told apart by two blanks, as torch's server prints them."""
    cells = [[str(title) for title in titles], *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(titles))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    return "\n".join(line.rstrip() for line in lines)


def _cell(value: object) -> str:
    """One line, and never two blanks in a row: these part the columns."""
    return "" if value is None else " ".join(str(value).split())
