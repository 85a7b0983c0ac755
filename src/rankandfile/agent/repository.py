"""The history of the source, where it is in a repository: git as `source.files.git` runs it, committed files only.

The working tree is never asked for: to compare with it, git would run the filters that a repository configures.
"""

from __future__ import annotations

import re

from rankandfile.source.files.git import git, refusal

from .bench import Bench
from .tool import ToolError

_REVISION = re.compile(r"[\w./^~@-]{1,200}")


def history(bench: Bench, path: str, *question: str) -> list[str] | None:
    """The lines that git answers about a file of the tree, asked of the first repository that has it. Raises ToolError
    where none does."""
    revision = bench.revision or "HEAD"
    if not _REVISION.fullmatch(revision) or revision.startswith("-"):
        raise ToolError(f"'{revision}' is no revision")
    for folder in bench.folders:
        for name in (path, path.partition("/")[2]):
            if name and git(folder, "cat-file", "-e", f"{revision}:./{name}") is not None:
                asked = (*question, revision, "--", name)
                printed = git(folder, *asked, limit=1 << 20)
                if printed is None and (why := refusal(folder, *asked)):
                    raise ToolError(f"git has no answer about {path}: {why}")
                return None if printed is None else printed.decode("utf-8", "replace").splitlines()
    why = "; ".join(filter(None, map(refusal, bench.folders[:3])))
    raise ToolError(f"{path} is in no git repository that was named with --src{f' ({why})' if why else ''}")
