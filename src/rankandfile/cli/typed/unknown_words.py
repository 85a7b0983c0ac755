"""What to say of a word that names nothing, or of one that lacks: with what there is instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankandfile.cli.help_pages.told import parameters


def in_our_words(error: Any) -> str | None:
    """Of an error of Click; None where its own words will do."""
    context: Any = getattr(error, "ctx", None)
    command = getattr(context, "command", None)
    if type(error).__name__ == "MissingParameter":
        return _missing(error, command)
    said = str(error.format_message())
    inner = getattr(command, "commands", None)
    if inner and said.startswith("No such command") and "Did you mean" not in said:
        if context.parent is None:
            # Who leaves the command out names evidence.
            return f"{said.rstrip('.')}, and no file or folder of that name here"
        return _of_group(said, context, list(inner))
    return None


def _of_group(said: str, context: Any, commands: list[str]) -> str:
    """A group has few commands, and who leaves one out has named what it is to be asked of."""
    word = said.partition("'")[2].rpartition("'")[0]
    left_out = "/" in word or Path(word).exists()
    begin = f"{word} is no command of {context.command_path}" if left_out else said.rstrip(".")
    return f"{begin}; there are {', '.join(commands)}"


def _missing(error: Any, command: Any) -> str | None:
    """By the name that `--help` has for it."""
    param = error.param
    if param is None or getattr(command, "callback", None) is None:
        return None
    known = {one.key: one for one in parameters(command.callback)}
    found = known.get(param.name)
    return f"Missing argument {found.metavar}" if found is not None and not found.names else None
