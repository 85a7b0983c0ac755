"""``raf show evidence``: an evidence id back to its file, its place there, and what stands there."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from typer import Argument, Option

from rankandfile.cli.console import Unicode, out, signs_for
from rankandfile.cli.errors import UserError
from rankandfile.cli.loading import diagnosed, diagnosing, load_case
from rankandfile.cli.output import TextFile, TextOrJson, TextOrJsonOption, as_json, show, write_text
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.model.case import Case
    from rankandfile.model.ledger import Evidence

ORDER = 80
EXAMPLES = (
    "raf show evidence incident/",
    "raf show evidence incident/ D0#84 L1:16",
    "raf show evidence incident/ L1:16 --context 20",
    "raf show evidence incident/ --format json",
)

_ID = re.compile(r"(D\d+([#@]-?\d+)?|[LS]\d+:\d+|X\d+)$")
_LINE = re.compile(r"line (\d+)$")
_MOST_BYTES = 256 << 20
_MOST_OF_A_LINE = 2000


class Line(NamedTuple):
    number: int
    text: str
    here: bool
    """It is the line that is cited."""


@diagnosing
def evidence(
    options: Options,
    what: Annotated[
        list[str],
        Argument(
            help="Dumps, folders or archives, and ids such as D0#84. Without ids: all that the verdict cites.",
            metavar="PATH... [ID...]",
        ),
    ],
    around: Annotated[
        int, Option("--context", "-C", min=0, help="Lines of a log or stack file to show around it.")
    ] = 2,
    format: TextOrJsonOption = TextOrJson.text,
    output: TextFile = None,
    unicode: Unicode = True,
) -> None:
    """The facts behind a verdict: which file, where in it, and what stands there, with the lines around it."""
    in_json = as_json(format, output)
    ids = [word for word in what if _ID.match(word) and not Path(word).exists()]
    paths = [Path(word) for word in what if word not in ids]
    if not paths:
        raise UserError("name the dumps, folders or archives that the ids are of")
    found = _named(load_case(paths, options), ids) if ids else diagnosed(paths, options).diagnosis.evidence
    shown = [(one, _context(one, around)) for one in found]
    if in_json:
        write_text(_json(shown), output)
        return
    from rankandfile.render.evidence import facts

    if not shown:
        out.print("The verdict cites nothing.")
        return
    show(facts(shown, signs_for(unicode)), output)


def _named(case: Case, ids: list[str]) -> list[Evidence]:
    found = []
    for one in ids:
        fact = case.evidence(one)
        if fact is None:
            raise UserError(f"there is no evidence {one} in this case")
        found.append(fact)
    return found


def _json(shown: list[tuple[Evidence, list[Line]]]) -> str:
    import msgspec

    from rankandfile.model.document import pretty

    rows = [
        {**msgspec.structs.asdict(one), "context": [line._asdict() for line in part]} for one, part in shown
    ]
    return pretty(rows).decode() + "\n"


def _context(fact: Evidence, around: int) -> list[Line]:
    """The lines around a fact; none of what is no line of a text file, or whose file is not at hand or has changed."""
    found = _LINE.match(fact.where)
    if found is None or "!/" in fact.source:
        return []
    cited = int(found[1])
    first = max(1, cited - around)
    path = Path(fact.source)
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return []
        with path.open("rb") as file:
            if b"\0" in file.read(512):
                return []
            file.seek(0)
            # A line longer than is kept is read in pieces, and counts once.
            raw = [line[:_MOST_OF_A_LINE] for line in islice(file, first - 1, cited + around)]
    except OSError:
        return []
    lines = [
        Line(number, text.decode("utf-8", "replace").rstrip("\r\n"), number == cited)
        for number, text in enumerate(raw, first)
    ]
    return lines if any(line.here for line in lines) else []
