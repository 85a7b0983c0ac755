"""The rows of the debug server's tables as values. Numbers and lists of numbers are parsed; nothing is evaluated."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

Sizes = list[list[int]]
_Row = dict[str, str]

_SIZES = re.compile(r"\[(?:\[[0-9, ]*\](?:, )?)*\]$")
_ONE = re.compile(r"\[([0-9, ]*)\]")
_RANKS = re.compile(r"\{[0-9, ]*\}$|set\(\)$|$")
_NUMBER = re.compile(r"-?[0-9]{1,18}$")
_STATES = ("scheduled", "started", "completed")

#: What another rank asked for instead, as Python prints it: ``{1: Collective(id=3, group_id='0', …)}``.
_OTHER = re.compile(r"(?P<rank>[0-9]{1,7}): Collective\(id=")
_VALUES = {
    "seq": re.compile(r"\bcollective_seq_id=(-?[0-9]{1,18}),"),
    "p2p_seq": re.compile(r"\bp2p_seq_id=(-?[0-9]{1,18}),"),
    "name": re.compile(r"\bcollective_name='([^']*)'"),
    "input_sizes": re.compile(r"\binput_sizes=(\[[\[\]0-9, ]*\]), output_sizes="),
    "output_sizes": re.compile(r"\boutput_sizes=(\[[\[\]0-9, ]*\]), expected_ranks="),
    "state": re.compile(r"\bcollective_state='([a-z]+)'"),
}

_MAX_RANKS = 1 << 20


class Collective(Struct, frozen=True):
    id: int
    group: str
    desc: str
    seq: int
    p2p_seq: int
    record: int
    """The record number of the rank whose call was matched first."""
    name: str
    input_sizes: Sizes
    output_sizes: Sizes
    state: str
    expected: frozenset[int]
    missing: frozenset[int]
    others: dict[int, Collective] = field(default_factory=dict)
    """Ranks that asked for something else, and what."""


class Called(Struct, frozen=True):
    id: int
    collective_id: int | None
    group: str
    rank: int
    name: str
    sizes: Sizes
    collective: Collective | None = None


class Grouping(NamedTuple):
    name: str
    desc: str
    members: list[int]


class _Bad(Exception):
    """A cell that is not what its column holds."""


def collectives(table: list[_Row]) -> tuple[list[Collective], int]:
    """The sound rows, and how many are not."""
    found: list[Collective] = []
    for row in table:
        try:
            found.append(_collective(row))
        except _Bad:
            continue
    return found, len(table) - len(found)


def called(table: list[_Row]) -> tuple[list[Called], int]:
    found: list[Called] = []
    for row in table:
        try:
            text = row.get("collective_id", "")
            found.append(
                Called(
                    id=_number(row.get("id", "")),
                    collective_id=_number(text) if text else None,
                    group=row.get("group_id", ""),
                    rank=_rank(row.get("global_rank", "")),
                    name=_name(row.get("collective_type", "")),
                    sizes=_sizes(row.get("sizes", "")),
                )
            )
        except _Bad:
            continue
    return found, len(table) - len(found)


def groupings(groups: list[_Row], memberships: list[_Row], found: list[Collective]) -> list[Grouping]:
    """The groups by their names. The server prints the name and a hash of the members as one word."""
    members: dict[str, set[int]] = defaultdict(set)
    for row in memberships:
        try:
            members[row.get("group_id", "")].add(_rank(row.get("global_rank", "")))
        except _Bad:
            continue
    names = {collective.group for collective in found}
    return [
        Grouping(_group_name(key, members[key], names), row.get("desc", ""), sorted(members[key]))
        for row in groups
        if (key := row.get("id", ""))
    ]


def _group_name(key: str, members: set[int], names: set[str]) -> str:
    # The hash of a set of integers is the same in every CPython of 64 bits.
    suffix = str(hash(frozenset(members)))
    if key.endswith(suffix):
        return key[: -len(suffix)]
    return max((name for name in names if key.startswith(name)), key=len, default=key)


def _collective(row: _Row) -> Collective:
    group, title = row.get("group_id", ""), row.get("pg_desc", "")
    collective = Collective(
        id=_number(row.get("id", "")),
        group=group,
        desc=title[len(group) + 1 :] if title.startswith(f"{group}:") else "undefined",
        seq=_number(row.get("collective_seq_id", "")),
        p2p_seq=_number(row.get("p2p_seq_id", "")),
        record=_number(row.get("record_id", "")),
        name=_name(row.get("collective_name", "")),
        input_sizes=_sizes(row.get("input_sizes", "")),
        output_sizes=_sizes(row.get("output_sizes", "")),
        state=_state(row.get("collective_state", "")),
        expected=_ranks(row.get("expected_ranks", "")),
        missing=_ranks(row.get("missing_ranks", "")),
    )
    others = _others(row.get("mismatch_collectives", ""), collective)
    if row.get("pass_check") == "False" and not others:
        raise _Bad  # the ranks differ, and how is lost
    return replace(collective, others=others)


def _others(text: str, collective: Collective) -> dict[int, Collective]:
    if not text:
        return {}
    starts = list(_OTHER.finditer(text))
    if not (starts and text.startswith("{") and text.endswith("}")):
        raise _Bad  # cut off: the ranks that differ are not known
    ends = [match.start() for match in starts[1:]] + [len(text)]
    others: dict[int, Collective] = {}
    for match, end in zip(starts, ends, strict=True):
        part = text[match.end() : end]
        values = {key: pattern.search(part) for key, pattern in _VALUES.items()}
        cells = {key: value[1] if value else "" for key, value in values.items()}
        others[_rank(match["rank"])] = replace(
            collective,
            seq=_number(cells["seq"]),
            p2p_seq=_number(cells["p2p_seq"]),
            name=_name(cells["name"]),
            input_sizes=_sizes(cells["input_sizes"]),
            output_sizes=_sizes(cells["output_sizes"]),
            state=_state(cells["state"]),
        )
    return others


def _number(text: str) -> int:
    if not _NUMBER.match(text):
        raise _Bad
    return int(text)


def _rank(text: str) -> int:
    rank = _number(text)
    if not 0 <= rank < _MAX_RANKS:
        raise _Bad
    return rank


def _ranks(text: str) -> frozenset[int]:
    if not _RANKS.match(text):
        raise _Bad
    return frozenset(_rank(number) for number in re.findall(r"[0-9]+", text))


def _sizes(text: str) -> Sizes:
    if not _SIZES.match(text):
        raise _Bad
    return [[_number(number) for number in re.findall(r"[0-9]+", one)] for one in _ONE.findall(text[1:-1])]


def _state(text: str) -> str:
    if text not in _STATES:
        raise _Bad
    return text


def _name(text: str) -> str:
    if not text or len(text) > 200:
        raise _Bad
    return text
