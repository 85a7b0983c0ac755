"""Of as many ranks as went the other way: who alone wrote of an exception before, and went on.

Where the calls show two ways, and neither is that of most, an exception that one side alone met and logged tells which
of them left the way that both had gone until then.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from rankandfile.model.column import Row
from rankandfile.model.events import event_id
from rankandfile.model.heuristics import heuristic
from rankandfile.model.ranks import parse_ranks
from rankandfile.model.sentence import told
from rankandfile.reason.facts import Facts
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.words import ranks_words, upper

_MET = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b|\bdue to (?:an )?exception\b")
#: What a rank meets when others are out of step, or gone, is no reason of its own.
_OF_OTHERS = re.compile(
    r"(?i)gloo|nccl|c10d|distbackend|connection|peer|socket|broken pipe|time(?:d)? ?out|sigterm|terminate called"
)
_NOBODY: dict[int, Row] = {}


def with_who_met_trouble(facts: Facts, finding: Finding) -> Finding:
    """The finding that two sides went different ways, with the one named that alone wrote of an exception."""
    if not finding.hang or finding.culprits or finding.divergence is None or finding.holds_if_hung:
        return finding
    sides = [frozenset(parse_ranks(cohort.ranks)) for cohort in finding.divergence.cohorts]
    met = _met(facts)
    side = next((each for each in sides if met.keys() and met.keys() <= each), None)
    if side is None or len(sides) != 2 or len(side) != len(met):
        return finding
    named, row = tuple(sorted(met)), met[min(met)]
    wrote = f'wrote "{row["text"]}"'
    return replace(
        finding,
        cause="swallowed_exception",
        culprits=named,
        confidence="supported",
        doing=dict.fromkeys(named, f"{wrote}, and went on another way"),
        sentence=told(
            finding.sentence,
            f"{upper(ranks_words(named))} alone {wrote}: what it met there, the others did not, and it went on.",
        ),
        victims=tuple(rank for rank in finding.victims if rank not in met),
        evidence=(*finding.evidence, event_id(int(row["log"]), int(row["line"]))),
    )


@heuristic(
    "alone in trouble",
    "of two sides of one size, who alone logged an exception and went on is the one that left the way",
    otherwise=_NOBODY,
)
def _met(facts: Facts) -> dict[int, Row]:
    """Rank -> its first such line among the last that it wrote."""
    found: dict[int, Row] = {}
    for row in facts.case.own_last_lines:
        if _MET.search(row["text"]) and not _OF_OTHERS.search(row["text"]):
            found.setdefault(int(row["rank"]), row)
    return found
