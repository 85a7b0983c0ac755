"""The doctor's findings as text: the answer first, then one line for each finding, with its fix."""

from __future__ import annotations

from collections import Counter

from rankandfile.model.settings import Examination, Finding

_ANSWER = {
    "yes": "the next hang can be diagnosed",
    "partly": "the next hang can be diagnosed in part",
    "no": "the next hang cannot be diagnosed from dumps",
}
_WIDEST = len("harmful")


def lines(examination: Examination, verbose: bool = False) -> list[str]:
    """`verbose` shows what is in order as well."""
    counts = Counter(finding.severity for finding in examination.findings)
    torch = f"torch {examination.torch}" if examination.torch else "torch not known"
    by = f" ({examination.torch_from})" if examination.torch_from else ""
    told = ", ".join(f"{counts[one]} {one}" for one in ("harmful", "useless", "missing", "ok") if counts[one])
    return [
        f"{_ANSWER[examination.diagnosable]}: {told}; {torch}{by}",
        *(_line(one) for one in examination.findings if verbose or one.severity != "ok"),
    ]


def _line(finding: Finding) -> str:
    place = f"{finding.place}: " if finding.place is not None else ""
    fix = f" -> {finding.fix}" if finding.fix and finding.severity != "ok" else ""
    return f"{finding.severity:<{_WIDEST}}  {place}{finding.says}{fix}"
