"""``raf mcp``: the tools of the investigation for coding agents and other clients of the protocol."""

from __future__ import annotations

import secrets
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace
from typer import Argument, Option

from rankandfile.cli.console import err
from rankandfile.cli.errors import UserError
from rankandfile.cli.extras import brought_by
from rankandfile.cli.loading import diagnosing
from rankandfile.cli.progress import watching
from rankandfile.cli.tokens import not_guessed
from rankandfile.pipeline import Options, all_there

if TYPE_CHECKING:
    from rankandfile.agent.bench import Bench
    from rankandfile.agent.mcp.cases import Asked, Cases

ORDER = 40
EXAMPLES = (
    "raf mcp incident/ --src train/",
    "raf mcp --root incidents/ --root train/",
    "RAF_MCP_TOKEN=... raf mcp incident/ --http 127.0.0.1:8765",
)


@diagnosing
def mcp(
    options: Options,
    paths: Annotated[
        list[Path] | None,
        Argument(
            help="The evidence of one job. Without it, clients open cases themselves, below --root.",
            metavar="[PATH...]",
        ),
    ] = None,
    root: Annotated[
        list[Path] | None,
        Option(
            "--root",
            metavar="DIR",
            help="Clients may open what is in this folder; may be given several times. Default: the working directory.",
        ),
    ] = None,
    http: Annotated[
        str | None,
        Option(
            "--http",
            metavar="[HOST:]PORT",
            help="Serve over HTTP instead of stdin and stdout. Without HOST: on this machine only.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        Option(
            "--token",
            envvar="RAF_MCP_TOKEN",
            help="What HTTP clients must send. Default: a fresh one, printed. As an option, others see it in `ps`.",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        Option(
            "--allow-host",
            metavar="NAME",
            help="A name under which HTTP clients reach this machine; may be given several times.",
        ),
    ] = None,
) -> None:
    """Offer the tools of the investigation to coding agents, over the Model Context Protocol.

    A client starts this command itself and talks to it over stdin and stdout: docs/agent.md has the settings for Claude
    Code, Codex, Cursor and VS Code. All tools only read, and only the case and its source. Needs the MCP SDK:
    pip install 'rankandfile[agent]'.
    """
    with brought_by("agent", "raf mcp needs the MCP SDK", "mcp", "mcp_types", "uvicorn"):
        from rankandfile.agent.mcp import http as over_http
        from rankandfile.agent.mcp.server import serve_stdio
    cases = _cases(paths or [], options, root)
    if http is None:
        if sys.stdin.isatty():
            err.print("raf mcp speaks to a program: stop it with Ctrl-C, and let your agent start it.")
        serve_stdio(cases)
        return
    if token is not None:
        not_guessed(token)
    try:
        place = over_http.listen(http)
    except over_http.CannotListen as error:
        raise UserError(f"--http {http}: {error}") from error
    chosen = token or secrets.token_urlsafe(32)
    err.print(f"address  {place.url}", soft_wrap=True)
    if token is None:
        err.print(f"token    {chosen}", soft_wrap=True)
    if not place.is_loopback:
        err.print("The connection is not encrypted: beyond this machine, put a proxy with TLS before it.")
    over_http.serve_http(cases, place, allow_host or [], chosen)


def _cases(paths: list[Path], options: Options, root: list[Path] | None) -> Cases:
    from rankandfile.agent.mcp.cases import Asked, GivenCase, OpenCases
    from rankandfile.agent.mcp.confine import Roots

    if paths and root:
        raise UserError("--root is for a server without PATH: with one, clients open nothing else")
    if not paths and options != Options(jobs=options.jobs, engine=options.engine, limits=options.limits):
        raise UserError(
            "--src, --git, --hung and --attempt need PATH: without one, a client says so when it opens a case"
        )
    all_there(paths, elsewhere=True)
    all_there(options.sources)
    for folder in root or ():
        if not folder.is_dir():
            raise UserError(f"{folder}: no such folder")
    if paths:
        return GivenCase(Asked(tuple(paths), options), _read)
    return OpenCases(Roots(root or [Path.cwd()]), partial(_read, own=options))


def _read(asked: Asked, own: Options | None = None) -> Bench:
    """`own`: how the server reads what clients open."""
    from rankandfile.agent.bench import bench_of
    from rankandfile.agent.tool import ToolError

    options = asked.options
    if own is not None:
        options = replace(options, jobs=options.jobs or own.jobs, engine=own.engine, limits=own.limits)
    try:
        with watching() as on_progress:
            return bench_of(asked.paths, options, on_progress=on_progress)
    except UserError as error:
        raise ToolError(str(error)) from error
