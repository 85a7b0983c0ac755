"""Whether a model's finding holds: by the check of every claim, and stricter where somebody is accused.

The playbook's own sentences are known; a model's are not. Whoever is to blame is said by the verdict, so that a
sentence that accuses may name nobody but those whom a verdict blames, whatever else it says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from rankandfile.agent.bench import Bench
from rankandfile.agent.claims import check, tokens
from rankandfile.agent.claims.parse import CitedSentence, Heading, Quote, parts
from rankandfile.agent.evidence_ranks import ranks_of_evidence
from rankandfile.agent.result import Result, who

_LONGEST = 2_000
_ACCUSES = re.compile(
    r"\b(?:blam\w*|culprit\w*|guilt\w*|fault\w*|responsib\w*|root cause|caus(?:e|es|ed|ing)|broke|broken|breaks|"
    r"misbehav\w*|to thank for|behind (?:the|this) hang|reason (?:for|of) (?:the|this) hang|origin\w*|trigger\w*|"
    r"hangs? the job|hung the job|stuck the job|did (?:it|this)|went wrong|at the bottom of|offend\w*|defect\w*)\b",
    re.IGNORECASE,
)
#: Words that need a name: nobody is accused by a paraphrase.
_PERSONAL = re.compile(r"\b(?:blam\w*|culprit\w*|guilt\w*|responsib\w*|offend\w*)\b", re.IGNORECASE)
_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b", re.IGNORECASE)
_ACTS = re.compile(r"\]\(|<[a-z/!?]|\w:[/\\]{2}|\bjavascript:", re.IGNORECASE)
_EXCUSES = re.compile(r"\b(?:victims?|innocent\w*|blameless|excus\w*|exonerat\w*)\b", re.IGNORECASE)
_JOINED = re.compile(
    r"\b(ranks?|workers?|gpus?|process(?:es)?)(?:[-_=/.]|\s*(?:no\.?|number|id)\s*)(?=\d)", re.IGNORECASE
)


def problems_of(text: str, bench: Bench, results: Mapping[str, Result]) -> list[str]:
    if len(text) > _LONGEST:
        return [f"it is longer than {_LONGEST} characters"]
    known = list(parts(text))
    if any(isinstance(part, Heading) for part in known):
        return ["a finding is a sentence or a code block, not a heading"]
    if any(isinstance(part, Quote) and part.info.startswith("diff") for part in known):
        return ["a change belongs into `fix`"]
    problems = [problem.what for problem in check(text, bench, dict(results))]
    for part in known:
        if isinstance(part, CitedSentence):
            problems += _beyond_reading(part.words)
            problems += _accusations(part.words, bench)
            problems += unsupported_actions(part.words, part.ids, bench, results)
    return list(dict.fromkeys(problems))


def _beyond_reading(words: str) -> Iterator[str]:
    """What nobody here can read is not held against anything; what acts on who reads is no statement."""
    bare = re.sub(r"`[^`]*`", " ", words)
    if any(ord(one) > 127 and unicodedata.category(one)[0] in "LMNC" for one in bare):
        yield "it has letters, digits or marks that are not English: write names of your own in `code`"
    if _ACTS.search(bare):
        yield "a finding has no links, no pictures and no HTML"


def _accusations(words: str, bench: Bench) -> Iterator[str]:
    named = tokens.ranks_in(_JOINED.sub(r"\1 ", words))
    guilty, others = named & bench.culprits, named - bench.culprits
    if _ACCUSES.search(words):
        if ordinal := _ORDINAL.search(words):
            yield f"it accuses, and says '{ordinal[0]}': a rank is written as a number"
        if others:
            yield f"it accuses, and names {who(sorted(others))}, whom no verdict blames; say what happened instead"
        elif not guilty and _PERSONAL.search(words):
            yield "it accuses, and does not say which rank; that is what the verdict is for"
    if _EXCUSES.search(words) and guilty:
        yield f"the rules blame {who(sorted(guilty))}: to differ, propose a verdict"


#: Numbers and names alone do not tell "rank 1 left the loop" from "rank 1 waits". What a sentence says that somebody
#: did, or did not, must be said of the same ranks by what it cites: families of words are compared, clause by clause.
#: That is coarse on purpose, and sends back rather than lets pass.
_FAMILIES = {
    name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE)
    for name, words in {
        "exit": r"exit\w*|quit\w*|terminat\w*|ended",
        "die": r"died?|dies|dead|death|gone|lost|vanish\w*|disappear\w*",
        "crash": r"crash\w*|segfault\w*|core dump\w*",
        "kill": r"kill\w*|sig[a-z]{3,}|oom\w*|out of memory",
        "raise": r"rais(?:e|es|ed|ing)|exception\w*|threw|throw\w*|error\w*",
        "abort": r"abort\w*",
        "skip": r"skip\w*|miss(?:es|ed|ing)?|omit\w*|absent|lack\w*|behind|never|skipped_collective",
        "leave": r"left|leav\w+|early_exit|out of (?:the|its) loop|earl(?:y|ier)",
        "stop": r"stop\w*|ceas\w+|halt\w*|silent|last",
        "block": r"block\w*|stuck|fr[eo]ez\w*|froze\w*|hung|hang\w*|deadlock\w*|stall\w*|host_blocked",
        "fail": r"fail\w*|faulty|broken?",
        "finish": r"finish\w*|complet\w*|done|ended",
        "network": r"network\w*|nics?|fabric\w*|infiniband|switch(?:es)?|cables?|links?|ethernet|peer_unreachable",
        "device": r"gpus?|kernels?|xid|ecc|hardware|devices?",
        "slow": r"slow\w*|lag\w*|late\w*|straggl\w*|host_slow",
        "first": r"first|earliest|before (?:all|the) others?",
    }.items()
}
_DENIES = re.compile(
    r"\b(?:not|no|never|none|nobody|neither|nor|cannot|without|no_\w+|refuted|ruled out|missing)\b|n't\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"[.;:]\s+|,? (?:where|while|whereas|because|since|so that|but|and (?=ranks? \d))", re.IGNORECASE
)
#: What remains possible, and what is lacking: nobody says that it was so.
_POSSIBLE = ("Or ", "Missing: ", "What would decide")


class Saying(NamedTuple):
    words: str
    ranks: frozenset[int]


def unsupported_actions(
    words: str, ids: tuple[str, ...], bench: Bench, results: Mapping[str, Result]
) -> Iterator[str]:
    """What the sentence says that ranks did, or did not, and what it cites does not say of them."""
    said = list(_sayings(ids, bench, results))
    bare = re.sub(r"`[^`]*`", " ", words)
    for clause in _clauses(bare, frozenset()):
        for name, family in _FAMILIES.items():
            found = family.search(clause.words)
            if found is None:
                continue
            alike = [one for one in said if family.search(one.words)]
            about = frozenset(rank for one in alike for rank in one.ranks)
            if not alike or not clause.ranks <= about:
                yield f"what it cites does not say '{found[0]}' of them ({name})"
        if denial := _DENIES.search(clause.words):
            denied = [one for one in said if _DENIES.search(one.words)]
            about = frozenset(rank for one in denied for rank in one.ranks)
            if not denied or not clause.ranks <= about:
                yield f"what it cites does not say '{denial[0]}' of them: cite a test_hypothesis that holds"


def _clauses(words: str, otherwise: frozenset[int]) -> Iterator[Saying]:
    """A clause without ranks goes on about those of the last one."""
    ranks = otherwise
    for part in _CLAUSE.split(words):
        if part:
            ranks = frozenset(tokens.ranks_in(part)) or ranks
            yield Saying(part, ranks)


def _sayings(ids: tuple[str, ...], bench: Bench, results: Mapping[str, Result]) -> Iterator[Saying]:
    for one in ids:
        if one in results:
            for line in results[one].supporting:
                if not line.startswith(_POSSIBLE):
                    yield from _clauses(line, frozenset())
        elif (fact := bench.case.evidence(one)) is not None:
            ranks = frozenset(ranks_of_evidence(bench, one) | tokens.ranks_in(fact.quote))
            yield Saying(fact.quote, ranks)
