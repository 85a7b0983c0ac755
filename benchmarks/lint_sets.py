"""What `raf lint` says of each program of the opened blind sets, so that a change is read case by case.

    python benchmarks/lint_sets.py [--missed] [FOLDER...]

A folder is a set as it was unpacked; none: those of `first-contact/`, unpacked for this. Of each program: whether its
line is found (as `raf lab blind` counts it), only hinted at or missed; then every error and warning that is at another
line, of a program that hangs as of a healthy one: what a person would read for nothing, or a second hazard. With
`--missed`, only programs whose line is not found, and those where something else is said. Two runs are compared with
`diff`.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.opened_sets import archives, name_of, unpacked  # noqa: E402

from rankandfile.lab.blind import case as files  # noqa: E402
from rankandfile.lab.blind import linted, sealed  # noqa: E402
from rankandfile.model.lint import Flagged  # noqa: E402
from rankandfile.source.lint.run import Options, lint  # noqa: E402


def main(words: Sequence[str]) -> int:
    folders = [Path(word) for word in words if word != "--missed"]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        for folder in folders or _opened(Path(place)):
            known = sealed.read(folder).content.cases
            for case in files.cases(folder):
                mark, others = said(case, known[case.name])
                counts[mark] += 1
                counts["other lines" if mark != "healthy" else "lines of healthy"] += len(others)
                counts["flagged healthy"] += bool(others) and mark == "healthy"
                if "--missed" in words and not others and mark not in ("missed", "hinted"):
                    continue
                truth = known[case.name].truth
                where = f"{truth.location.file}:{truth.location.line}" if truth.location else "-"
                print(
                    f"{folder.name} {case.name} [{mark}] {truth.cause}, {case.file.kind}, {where}: {truth.title}"
                )
                for each in others:
                    print(f"    {_place(each, case)} {each.severity}[{each.rule}] {each.code.strip()}")
    asked = counts["found"] + counts["hinted"] + counts["missed"]
    print(
        f"{counts['found']} of {asked} are found, {counts['hinted']} only hinted at, {counts['missed']} missed"
    )
    print(f"{counts['other lines']} other errors and warnings in programs that hang")
    healthy = counts["healthy"]
    print(
        f"{counts['flagged healthy']} of {healthy} healthy are flagged ({counts['lines of healthy']} lines)"
    )
    return 0


def said(case: files.Case, known: sealed.SealedCase) -> tuple[str, list[Flagged]]:
    """What is true of the program's own line, and all that is said of others."""
    marked = linted.marked(case, known)
    places = [place for place in (known.truth.location, *known.accepted) if place is not None]
    loud = [each for each in lint([case.folder / "src"], Options()).flagged if each.severity != "hint"]
    others = [each for each in loud if not known.truth.hang or not linted.tells(each, places)]
    if not known.truth.hang:
        return "healthy", others
    if marked.found is None:
        return "not asked", others
    return "found" if marked.found else "hinted" if marked.hinted else "missed", others


def _place(flagged: Flagged, case: files.Case) -> str:
    inside = Path(flagged.file).resolve().relative_to((case.folder / "src").resolve())
    return f"{inside.as_posix()}:{flagged.line}"


def _opened(place: Path) -> Iterator[Path]:
    for archive in (*archives("round"), *archives("practice")):
        yield unpacked(archive, place / name_of(archive))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
