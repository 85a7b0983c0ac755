"""`--help`: usage, what a command does, its arguments and options, examples; as wide as the terminal, and no boxes."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from rankandfile.cli.typed.given_twice import told_once

from .told import Parameter, parameters

_WIDTH = 100
_HARD_SPACE = "\N{NO-BREAK SPACE}"
_LEFT = 22
"""Columns of a name; a longer one has a line of its own."""


class HelpOfCommand(TyperCommand):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_page(self, ctx))

    def make_parser(self, ctx: Any) -> Any:
        """One that looks at what came out: Click itself takes the last of several values."""
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def looked_at(args: list[str]) -> Any:
            found = parse(args)
            told_once(found[2])
            return found

        parser.parse_args = looked_at  # type: ignore[method-assign]
        return parser


class HelpOfGroup(TyperGroup):
    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(_page(self, ctx))


def _page(command: Any, ctx: Any) -> str:
    width = min(shutil.get_terminal_size((80, 24)).columns, _WIDTH)
    said = _parameters(command, ctx)
    arguments, options = [one for one in said if not one.names], [one for one in said if one.names]
    inner = "COMMAND ..." if hasattr(command, "commands") else ""
    usage = " ".join(
        filter(None, [ctx.command_path, "[OPTIONS]", *(one.metavar for one in arguments), inner])
    )
    parts = [f"{_head('Usage')} {usage}\n"]
    told = (command.help or "").split("\n\n")
    parts += ["\n".join(_wrapped(one, width)) + "\n" for one in told if one]
    for panel, commands in _commands(command):
        parts.append(_table(panel, commands, width))
    if arguments:
        parts.append(_table("Arguments", ((one.metavar, one.told) for one in arguments), width))
    parts.append(_table("Options", ((_names(one), _meaning(one)) for one in options), width))
    if examples := (command.epilog or "").splitlines():
        shown = [line for one in examples for line in _example(one, width)]
        parts.append("\n".join([_head("Examples"), *shown]) + "\n")
    return "\n".join(parts)


def _parameters(command: Any, ctx: Any) -> list[Parameter]:
    """Those of the command's function, and the ones that Typer adds."""
    ours = {one.key: one for one in parameters(command.callback)} if command.callback else {}
    return [
        ours[one.name]
        if one.name in ours
        else Parameter(one.name, sorted(one.opts, key=len, reverse=True), "", "", one.help or "")
        for one in command.get_params(ctx)
        if not getattr(one, "hidden", False)
    ]


def _commands(command: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Under their headings, in their order, each by its first paragraph."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for name, one in getattr(command, "commands", {}).items():
        panel = getattr(one, "rich_help_panel", None)
        first = (one.help or "").partition("\n\n")[0]
        panels.setdefault(panel if isinstance(panel, str) else "Commands", []).append((name, first))
    yield from panels.items()


def _names(one: Parameter) -> str:
    short = [name for name in one.names if not name.startswith("--")]
    long = [name for name in one.names if name.startswith("--")]
    # What has no short name stands below the long names of those that have one.
    return f"{', '.join([*short, *long]) if short else '    ' + ', '.join(long)} {one.metavar}".rstrip()


def _meaning(one: Parameter) -> str:
    default = f"[{one.default}]" if one.default == "required" else f"[default: {one.default}]"
    return f"{one.told} {default}" if one.default else one.told


def _table(title: str, rows: Iterable[tuple[str, str]], width: int) -> str:
    rows = list(rows)
    left = max((len(name) for name, _ in rows if len(name) <= _LEFT), default=0) + 4
    lines, indent = [_head(title)], " " * left
    for name, said in rows:
        wrapped = _wrapped(said, max(20, width - left))
        beside = len(name) <= _LEFT
        lines.append(f"  {name:<{left - 2}}{wrapped[0] if beside and wrapped else ''}".rstrip())
        lines += [indent + line for line in wrapped[beside:]]
    return "\n".join(lines) + "\n"


def _example(line: str, width: int) -> list[str]:
    """A command, which is copied and stays whole, and what it is for: below it where there is no room beside it."""
    if len(line) + 2 <= width:
        return [f"  {line}"]
    command, *said = re.split(r" {2,}", line, maxsplit=1)
    return [f"  {command}", *(f"      {one}" for words in said for one in _wrapped(words, width - 6))]


def _wrapped(said: str, width: int) -> list[str]:
    """Broken at spaces alone: an option with a hyphen is one word, and so is what a default is."""
    whole = re.sub(r"\[default: [^]]*\]", lambda found: found[0].replace(" ", _HARD_SPACE), said)
    return [one.replace(_HARD_SPACE, " ") for one in textwrap.wrap(whole, width, break_on_hyphens=False)]


def _head(title: str) -> str:
    return typer.style(f"{title}:", bold=True)
