"""Evidence, and what `raf condense` makes of it, side by side."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

import rankandfile
from rankandfile.evidence.condensed.condense import condense
from rankandfile.evidence.files.engine import Here
from rankandfile.evidence.files.limits import Limits
from rankandfile.evidence.load import load
from rankandfile.model.case import Case
from rankandfile.model.errors import UserError


def condensed(evidence: Path, into: Path) -> Path:
    """The archive `node.case` in the folder `into`."""
    done = condense([evidence], into / "node.case", Limits(), Here(1))
    assert done.files
    return into / "node.case"


def case_of(path: Path) -> Case:
    with TemporaryDirectory() as spool:
        return load([path], Path(spool), jobs=1)


def answer(paths: Sequence[Path]) -> rankandfile.Diagnosis:
    return rankandfile.diagnose(paths)


def told_alike(evidence: Path, scratch: Path) -> list[str]:
    """In what the two diagnoses differ, line by line of the whole document, but for what the files are called."""
    archive = condensed(evidence, scratch)
    full = _said(evidence).replace(f"{evidence.parent}/", "")
    small = _said(archive).replace(f"{archive}!/", "")
    # An archive that the evidence held is a folder in the condensed one.
    one, other = (re.sub("!/", "/", said).splitlines() for said in (full, small))
    return list(difflib.unified_diff(one, other, "as it is", "condensed", n=0, lineterm=""))


def _said(path: Path) -> str:
    try:
        return msgspec.json.format(answer([path]).to_json()).decode()
    except UserError as error:
        return str(error)
