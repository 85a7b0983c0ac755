"""Several processes and their ranks in one line, as people note them."""

from __future__ import annotations

import re

#: Several at once, as people note them: `51120=0 51131=1`, `4711 -> 2, 4712 -> 3`, `rank 0: 80211, rank 1: 80212`.
_PAIRS = re.compile(
    r"(?<![\w.:/=-])(\d{3,10})\s?(?:=|->|→|:|\bis(?: rank)?)\s?(?:rank ?)?(\d{1,5})(?![\w.:/=-]*\d)"
)
_TURNED = re.compile(r"\brank ?(\d{1,5})\s?(?:=|->|→|:|\bis)\s?(?:pid |process )?(\d{3,10})(?![\w.:/=-]*\d)")
#: `ranks 0..3 are pids 9010 9011 9012 9013`, `pids 4711, 4712 = ranks 0-1`: a row of ranks, and as many processes.
_ROW = r"ranks?\W{1,3}(\d{1,5}) ?(?:\.{2,3}|-|–|:|,|to|through|and) ?(\d{1,5})\b"
_PIDS = r"(?:pids?|process(?:es)?)\W{1,3}(\d{2,10}(?:(?:[ ,/]|and)+\d{2,10})+)\b"
_ROW_OF_PIDS = re.compile(rf"(?i)\b{_ROW}[^.;\d]{{0,24}}\b{_PIDS}")
_PIDS_OF_ROW = re.compile(rf"(?i)\b{_PIDS}[^.;\d]{{0,24}}\b{_ROW}")


def pairs_in(body: str) -> list[tuple[int, int]]:
    """Process and rank of each; empty where the line lists none."""
    pairs = [(int(pid), int(rank)) for pid, rank in _PAIRS.findall(body)]
    return pairs or [(int(pid), int(rank)) for rank, pid in _TURNED.findall(body)] or _row(body)


def _row(body: str) -> list[tuple[int, int]]:
    """As many processes as the row of ranks is long, in its order."""
    if match := _ROW_OF_PIDS.search(body):
        first, last, listed = match.groups()
    elif match := _PIDS_OF_ROW.search(body):
        listed, first, last = match.groups()
    else:
        return []
    pids, ranks = [int(pid) for pid in re.findall(r"\d+", listed)], range(int(first), int(last) + 1)
    return list(zip(pids, ranks, strict=True)) if len(pids) == len(ranks) else []
