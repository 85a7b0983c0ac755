"""The tool that opens a case, for a server that was started without one."""

from __future__ import annotations

from collections.abc import Iterator

from rankandfile.agent.result import Line, line
from rankandfile.agent.tool import Arguments, ToolError
from rankandfile.agent.tools.overview import TOOL as OVERVIEW
from rankandfile.pipeline import Options

from .cases import Asked, OpenCases

NAME = "open_case"
DESCRIPTION = (
    "Opens a case: reads dumps, stacks, logs, archives or case directories, and the job's source where it is named. "
    "Answers with the case's name, which the other tools take as `case`. Only what lies in these folders can be "
    "opened: "
)


class OpenCase(Arguments, frozen=True):
    paths: tuple[str, ...]
    """Files, folders or archives with the evidence of one job, in any mix."""
    src: tuple[str, ...] = ()
    """Folders, zip files or wheels with the job's source."""
    git: str | None = None
    """Read the folders of `src` as they were in this commit."""
    hung: bool = False
    """The job did hang: for dumps whose files have lost the time of writing."""
    attempt: int | None = None
    """Which attempt of the job, 1 being the earliest; by default the latest that has most of its ranks."""


def open_case(cases: OpenCases, asked: OpenCase) -> Iterator[Line]:
    if not asked.paths:
        raise ToolError("open_case needs paths: what the job left behind")
    paths = tuple(map(cases.roots.inside, asked.paths))
    src = tuple(map(cases.roots.inside, asked.src))
    if asked.git is not None and not all(cases.roots.has_history_of(one) for one in src if one.is_dir()):
        raise ToolError(f"git: the repository of the source does not lie in {cases.roots} as a whole")
    options = Options(sources=src, revision=asked.git, hung=asked.hung, attempt=asked.attempt)
    opened = cases.open(Asked(paths, options))
    has_source = opened.bench.tree is not None
    source = "with its source" if has_source else "without source: no line of code can be named"
    yield line(f"The case is open as `{opened.name}`, {source}.")
    yield from OVERVIEW.call(opened.bench, {}).lines
