"""``raf skill install``: the skill, put where a coding agent looks for skills."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError
from rankandfile.cli.names import agent_names

ORDER = 10
EXAMPLES = (
    "raf skill install",
    "raf skill install --for codex --project",
    "raf skill install --for ~/agents/skills --force",
)


def install(
    agent: Annotated[
        str,
        Option(
            "--for",
            metavar="AGENT|DIR",
            autocompletion=agent_names,
            help="claude, codex, cursor, vscode, or another folder of skills. Cursor and VS Code read claude's too.",
        ),
    ] = "claude",
    user: Annotated[
        bool,
        Option("--user/--project", help="For all your projects, or for the repository you are in."),
    ] = True,
    force: Annotated[
        bool, Option("--force", help="Replace files that were edited since they were installed.")
    ] = False,
) -> None:
    """Install the skill where the agent looks for skills, or bring it up to date.

    A folder `diagnose-training-hang` with SKILL.md and what it refers to. Files that were edited are left alone.
    """
    from rankandfile.agent.skill.install import AGENTS, Edited
    from rankandfile.agent.skill.install import install as put

    if agent in AGENTS:
        in_project, at_home = AGENTS[agent]
        skills = Path.home() / at_home if user else _project() / in_project
    elif "/" in agent or Path(agent).is_dir():
        skills = Path(agent)
    else:
        raise UserError(f"--for {agent}: neither {', '.join(AGENTS)} nor a folder")
    try:
        done = put(skills, force)
    except Edited as error:
        raise UserError(
            f"edited since it was installed, or not of this program: {error}; --force replaces it"
        ) from error
    except OSError as error:
        raise UserError(f"cannot write to {skills}: {error.strerror or error}") from error
    for what, paths in (("wrote", done.written), ("removed", done.removed)):
        for path in paths:
            out.print(f"{what:<8} {path}", soft_wrap=True)
    if not done.written and not done.removed:
        err.print(f"{done.folder} is up to date", soft_wrap=True)


def _project() -> Path:
    """The repository around the working directory; that directory itself, where there is none."""
    here = Path.cwd()
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
