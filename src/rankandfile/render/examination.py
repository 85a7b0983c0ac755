"""The doctor's findings as text: the answer first, then one line for each finding, with its fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rankandfile.model.settings import Examination, Finding

_ANSWER = {
    "yes": "the next hang can be diagnosed",
    "partly": "the next hang can be diagnosed in part",
    "no": "the next hang cannot be diagnosed from dumps",
}
_WIDEST = len("harmful")
_MOST_PLACES = 4


def lines(examination: Examination, verbose: bool = False) -> list[str]:
    """`verbose` shows what is in order as well."""
    counts = Counter(severity for severity, *_ in {_same(one) for one in examination.findings})
    torch = f"torch {examination.torch}" if examination.torch else "torch not known"
    by = f" ({examination.torch_from})" if examination.torch_from else ""
    told = ", ".join(f"{counts[one]} {one}" for one in ("harmful", "useless", "missing", "ok") if counts[one])
    return [
        f"{_ANSWER[examination.diagnosable]}: {told}; {torch}{by}",
        *_lines([one for one in examination.findings if verbose or one.severity != "ok"]),
    ]


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    """What is the same of several processes is said once, with its fix, and with all the places."""
    alike: dict[tuple[str, str, str, str], list[Finding]] = {}
    for one in findings:
        alike.setdefault(_same(one), []).append(one)
    for (severity, _, says, fix), those in alike.items():
        places = list(dict.fromkeys(str(one.place) for one in those if one.place is not None))
        shown = ", ".join(
            [*places[:_MOST_PLACES], *[f"{len(places) - _MOST_PLACES} more"] * (len(places) > _MOST_PLACES)]
        )
        mend = f" -> {fix}" if fix and severity != "ok" else ""
        yield f"{severity:<{_WIDEST}}  {shown}{': ' if shown else ''}{says}{mend}"


def _same(one: Finding) -> tuple[str, str, str, str]:
    return one.severity, one.check, one.says, one.fix
