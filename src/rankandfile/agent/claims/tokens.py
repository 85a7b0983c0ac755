"""What of a sentence can be compared by a machine: ranks, numbers, places, code, and the names of things."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from rankandfile.model.ranks import parse_ranks

_SPAN = r"\d+(?:\s*[-–]\s*\d+)?"
_LIST = rf"{_SPAN}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*){_SPAN}(?!\s*(?:calls|s\b)))*"
_RANKS = re.compile(rf"\b(?:ranks?|culprits?|workers?|gpus?|process(?:es)?)\b[\s#:]*({_LIST})", re.IGNORECASE)
_ACCUSED = re.compile(
    _RANKS.pattern
    + r"\s+(?:is|are|was|were)\s+(?:(?:to|the|a)\s+)?(?:blame[ds]?|culprits?|guilty|at fault|responsible)\b",
    re.IGNORECASE,
)
#: A rank in letters cannot be compared, and is no way around the comparison.
_SPELLED = re.compile(
    r"\branks?\s+(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"([\w./\\-]*\w\.(?:py|cpp|cu|c|h|json|txt|log|toml|yaml|sh)):(\d+)(?:-(\d+))?", re.IGNORECASE
)
_FILE = re.compile(r"[\w./-]*\w\.(?:py|cpp|cu|json|yaml|toml|sh|log)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:(?:st|nd|rd|th)\b)?")
_CODE = re.compile(r"`([^`]+)`")
_NAMED = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Fault)\b|\bSIG[A-Z]{2,}\b|\bXid\b|\bOOM\b|"
    r"\bout of memory\b|\bsegfault\w*|\bECC\b"
)
_OPS = re.compile(
    r"\b_?(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|barrier|(?:i?send|i?recv)|gather|scatter|"
    r"coalesced)(?:_\w+)?\b",
    re.IGNORECASE,
)
_MOST_RANKS = 1 << 17


def ranks_in(words: str) -> set[int]:
    found: set[int] = set()
    for match in _RANKS.finditer(_without_places(words)):
        listed = re.sub(r"\s*(?:,?\s*\band\b|&)\s*", ",", match[1]).replace("–", "-")
        try:
            ranks = parse_ranks(listed)
        except ValueError:
            continue
        if len(found) + len(ranks) <= _MOST_RANKS:
            found.update(ranks)
    return found


def accused_in(words: str) -> set[int]:
    """The ranks of which a sentence says, in so many words, that they are to blame."""
    return {rank for found in _ACCUSED.finditer(words) for rank in ranks_in(f"ranks {found[1]}")}


def spelled_ranks(words: str) -> list[str]:
    return _SPELLED.findall(words)


def places_in(words: str) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for file, first, last in _PLACE.findall(words):
        span = range(int(first), min(int(last or first), int(first) + 1000) + 1)
        found |= {(_name(file), line) for line in span} or {(_name(file), int(first))}
    return found


def files_in(words: str) -> set[str]:
    return {_name(file) for file in _FILE.findall(words)}


def numbers_in(words: str) -> set[str]:
    """Whole numbers and decimals, without the commas and endings that people write."""
    return {
        _plain_number(number) for number in _NUMBER.findall(re.sub(r"[#\[\](){}=:;/×x+~<>*^|-]", " ", words))
    }


def loose_numbers(words: str) -> set[str]:
    """The numbers that are no rank, no place and no code."""
    rest = _RANKS.sub(" ", _without_places(_CODE.sub(" ", words)))
    return numbers_in(rest)


def code_in(words: str) -> list[str]:
    return [" ".join(code.split()) for code in _CODE.findall(words)]


def names_in(words: str) -> set[str]:
    return {name.lower() for name in _NAMED.findall(words)}


def ops_in(words: str) -> set[str]:
    return {_plain_op(op) for op in _OPS.findall(_CODE.sub(" ", words))}


def _plain_op(op: str) -> str:
    return op.lower().lstrip("_").replace("_", "")


def plain_ops(words: str) -> str:
    return words.lower().replace("_", "")


def _without_places(words: str) -> str:
    return _PLACE.sub(" ", words)


def _name(file: str) -> str:
    return PurePosixPath(file.replace("\\", "/")).name


def _plain_number(number: str) -> str:
    return re.sub(r"(?:st|nd|rd|th)$", "", number).replace(",", "").lstrip("-")
