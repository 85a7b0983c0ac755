"""`--json` where `--format json` is meant: other programs have it so."""

from __future__ import annotations


def meant_format(error: Exception) -> str | None:
    """What to say of an option that is not there, and bears the name of a format of the command."""
    word = str(getattr(error, "option_name", "")).removeprefix("--")
    command = getattr(getattr(error, "ctx", None), "command", None)
    for param in getattr(command, "params", ()):
        kind = getattr(getattr(param, "type_descriptor", None), "annotation", None)
        if param.name == "format" and word in {one.value for one in kind or ()}:
            return f"No such option: --{word}; there is --format {word}"
    return None
