"""Patches and probes of a diagnosis: what its remedies and probes say, done at the place that was found."""

from __future__ import annotations

import msgspec

from rankandfile.model.diagnosis import BY_HAND, Diagnosis, Probe, Remedy, Verdict
from rankandfile.source import probes
from rankandfile.source.program.modules import Files

from .choose import patches
from .code import Code
from .patch import Patch, Refusal
from .problem import Problem, of_verdict


def advise(diagnosis: Diagnosis, tree: Files, plain: bool = False) -> Diagnosis:
    """The diagnosis with a patch for each verdict that has a place and a pattern, and with its probes."""
    code = Code(tree)
    verdicts = [_advised(verdict, diagnosis, code, plain) for verdict in diagnosis.verdicts]
    return msgspec.structs.replace(diagnosis, verdicts=verdicts)


def _advised(verdict: Verdict, diagnosis: Diagnosis, code: Code, plain: bool) -> Verdict:
    problem = of_verdict(verdict, diagnosis)
    if problem is None or not verdict.hang:
        return verdict
    return msgspec.structs.replace(
        verdict,
        remedies=[*remedies_of(problem, code, plain), *verdict.remedies],
        probes=[*(_probe(patch) for patch in probes.probes(problem, code, plain)), *verdict.probes],
    )


def remedies_of(problem: Problem, code: Code, plain: bool) -> list[Remedy]:
    """The patches; where there is none, why a mechanical one would be wrong."""
    found = patches(problem, code, plain)
    made = [_remedy(patch) for patch in found if isinstance(patch, Patch)]
    refused = [refusal for refusal in found if isinstance(refusal, Refusal) and refusal.pattern]
    return made or [Remedy(title=BY_HAND, text=_sentence(r.words)) for r in refused[:1]]


def _remedy(patch: Patch) -> Remedy:
    return Remedy(title=patch.title, text=f"{patch.text} {patch.decide}".rstrip(), diff=patch.diff)


def _probe(patch: Patch) -> Probe:
    return Probe(title=patch.title, text=patch.text, diff=patch.diff)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
