"""Whether a model's finding holds: by the check of every claim, and stricter where somebody is accused.

The playbook's own sentences are known; a model's are not. Whoever is to blame is said by the verdict, so that a
sentence that accuses may name nobody but those whom a verdict blames, whatever else it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from rankandfile.agent.bench import Bench
from rankandfile.agent.claims import check, tokens
from rankandfile.agent.claims.parse import Claim, Heading, Quote, parts
from rankandfile.agent.result import Result, who

from .actions import unsupported_actions

_LONGEST = 2_000
_ACCUSES = re.compile(
    r"\b(?:blam\w*|culprit\w*|guilt\w*|fault\w*|responsib\w*|root cause|caus(?:e|es|ed|ing)|broke|broken|breaks|"
    r"misbehav\w*|to thank for|behind (?:the|this) hang|reason (?:for|of) (?:the|this) hang|origin\w*|trigger\w*|"
    r"hangs? the job|hung the job|stuck the job|did (?:it|this)|went wrong|at the bottom of|offend\w*|defect\w*)\b",
    re.IGNORECASE,
)
#: Words that need a name: nobody is accused by a paraphrase.
_PERSONAL = re.compile(r"\b(?:blam\w*|culprit\w*|guilt\w*|responsib\w*|offend\w*)\b", re.IGNORECASE)
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
        if isinstance(part, Claim):
            problems += _accusations(part.words, bench)
            problems += unsupported_actions(part.words, part.ids, bench, results)
    return list(dict.fromkeys(problems))


def _accusations(words: str, bench: Bench) -> Iterator[str]:
    named = tokens.ranks_in(_JOINED.sub(r"\1 ", words))
    guilty, others = named & bench.culprits, named - bench.culprits
    if _ACCUSES.search(words):
        if others:
            yield f"it accuses, and names {who(sorted(others))}, whom no verdict blames; say what happened instead"
        elif not guilty and _PERSONAL.search(words):
            yield "it accuses, and does not say which rank; that is what the verdict is for"
    if _EXCUSES.search(words) and guilty:
        yield f"the rules blame {who(sorted(guilty))}: to differ, propose a verdict"
