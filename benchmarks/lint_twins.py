"""How much `raf lint` finds of programs that hang, and how often it flags their twins that do not.

    python benchmarks/lint_twins.py [pages] [lab] [sets] [mpi]

* pages: the programs of `tests/lint/rules`, which were written for the rules.
* lab: the programs of the lab, several files each, with their fault and with their accepted fix.
* sets: the programs of the blind sets that were opened (`first-contact/`), and their healthy ones.
* mpi: the ordering errors of the MPI Bugs Initiative as mpi4py and torch programs.

Asked for is what a linter could find: ranks that take different paths, or hand over different arguments. Of lab and
sets a program counts as found where an error or a warning has the true line in its story. A twin is flagged where
anything is an error or a warning; of the lab's also told is in how many of them that is said of the faulty program as
well, at another line: their code has that hazard still, and data that does not meet it. Twins of the same code are left
out.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.lint_pages import programs  # noqa: E402
from support.mpi_bugs import programs as mpi_programs  # noqa: E402
from support.opened_sets import archives, unpacked  # noqa: E402

from rankandfile.lab.blind import case as files  # noqa: E402
from rankandfile.lab.blind import linted, sealed  # noqa: E402
from rankandfile.lab.catalog import scenarios  # noqa: E402
from rankandfile.lab.source_tree import build, locate  # noqa: E402
from rankandfile.model.lint import Flagged  # noqa: E402
from rankandfile.source.lint.run import lint  # noqa: E402

_EXPECTED = re.compile(r"#\s*(?:error|warning)\[")
_ASKED = (
    *("skipped_collective", "extra_collective", "different_collective", "order_inversion", "early_exit"),
    *("uneven_inputs", "rank_conditional", "swallowed_exception"),
    *("size_mismatch", "dtype_mismatch", "split_mismatch", "root_mismatch", "group_mismatch"),
)


class Asked(Struct, frozen=True):
    """One program. `hangs`: it is to be flagged; else it is a twin."""

    name: str
    hangs: bool
    flagged: bool
    hazard: bool = False
    """All that is flagged in the twin is flagged in the faulty program too, at lines that are not the true one."""


def main(kinds: Sequence[str]) -> int:
    every = {"pages": of_pages, "lab": of_lab, "sets": of_sets, "mpi": of_mpi}
    total: Counter[tuple[bool, bool]] = Counter()
    for kind in kinds or every:
        with tempfile.TemporaryDirectory() as folder:
            found = list(every[kind](Path(folder)))
        counts = Counter((one.hangs, one.flagged) for one in found)
        total += counts
        print(f"{kind}: {told(counts)}")
        if hazards := sum(one.hazard for one in found):
            print(
                f"  {hazards} of these twins are flagged only for what the faulty program has elsewhere, too"
            )
        for words, hangs, flagged in (("missed", True, False), ("flagged twin", False, True)):
            names = [one.name for one in found if (one.hangs, one.flagged) == (hangs, flagged)]
            print("".join(f"  {words}: {name}\n" for name in names), end="")
    print(f"all: {told(total)}")
    return 0


def told(counts: Counter[tuple[bool, bool]]) -> str:
    bad, twins = counts[True, True] + counts[True, False], counts[False, True] + counts[False, False]
    return (
        f"{counts[True, True]} of {bad} that hang are found ({counts[True, True] / max(bad, 1):.1%}); "
        f"{counts[False, True]} of {twins} twins are flagged ({counts[False, True] / max(twins, 1):.1%})"
    )


def loud(folder: Path) -> list[Flagged]:
    return [each for each in lint([folder]).flagged if each.severity != "hint"]


def of_pages(folder: Path) -> Iterator[Asked]:
    for number, program in enumerate(programs()):
        texts = "".join(program.files.values())
        if not _EXPECTED.search(texts) and "# hint[" in texts:
            continue
        place = folder / str(number)
        for name, text in program.files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
        yield Asked(f"{program.page}: {program.title}", bool(_EXPECTED.search(texts)), bool(loud(place)))


def of_lab(folder: Path) -> Iterator[Asked]:
    for scenario in scenarios():
        if scenario.cause not in _ASKED or scenario.location is None or not (scenario.fault or scenario.fix):
            continue
        bad, good = folder / scenario.name, folder / f"{scenario.name}.twin"
        build(scenario, bad, fixed=False)
        build(scenario, good, fixed=True)
        true = locate(scenario.location, bad, scenario.name)
        said = loud(bad)
        yield Asked(scenario.name, True, any(linted.tells(each, [true]) for each in said))
        if sources(bad) == sources(good):
            continue
        kept = loud(good)
        elsewhere = {key(each) for each in said if not linted.tells(each, [true])}
        hazard = bool(kept) and elsewhere.issuperset(map(key, kept))
        yield Asked(f"{scenario.name}, mended{' (elsewhere)' if hazard else ''}", False, bool(kept), hazard)


def sources(folder: Path) -> dict[str, str]:
    return {file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*.py")}


def key(flagged: Flagged) -> tuple[str, str, str]:
    return flagged.rule, flagged.function, flagged.code


def of_sets(folder: Path) -> Iterator[Asked]:
    for archive in archives("round"):
        place = folder / archive.name
        known = sealed.read(unpacked(archive, place)).content.cases
        for case in files.cases(next(place.iterdir())):
            truth = known[case.name].truth
            mark = linted.marked(case, known[case.name])
            if mark.false is not None:
                yield Asked(f"{archive.name[:8]} {case.name}", False, mark.false)
            elif mark.found is not None and truth.cause in _ASKED:
                yield Asked(f"{archive.name[:8]} {case.name}", True, mark.found)


def of_mpi(folder: Path) -> Iterator[Asked]:
    for number, program in enumerate(mpi_programs()):
        place = folder / str(number)
        place.mkdir()
        (place / "train.py").write_text(program.text, encoding="utf-8")
        yield Asked(program.name, not program.correct, bool(loud(place)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
