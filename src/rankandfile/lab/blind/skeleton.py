"""The beginning of a blind set: templates with comments, and the protocol for somebody from outside."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from rankandfile.model.errors import UserError

from .case import SET
from .code import code

TEMPLATES = Path(__file__).parent / "templates"
OF_EVIDENCE = Path(__file__).parent / "found" / "templates"


def new(folder: Path, evidence: bool = False) -> str:
    """Make it in a folder that is empty or not there; returns the commit that is to be scored.

    `evidence`: of found evidence, with no program beside it.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty: name another folder")
    shutil.copytree(
        OF_EVIDENCE if evidence else TEMPLATES,
        folder,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    commit = code().commit
    path = folder / SET
    name = json.dumps(folder.resolve().name, ensure_ascii=False)
    text = path.read_text(encoding="utf-8").replace('"NAME"', name).replace('"COMMIT"', json.dumps(commit))
    path.write_text(text, encoding="utf-8")
    return commit
