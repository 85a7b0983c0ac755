"""What a project says once, in `raf.toml` or under `[tool.raf]` of `pyproject.toml`: the nearest one upwards counts.

    src = ["train/"]                    # --src
    dumps = "dumps/"                    # PATH, where none is named
    torch = "2.9"                       # raf doctor --torch
    collectives = ["ourlib.all_mean"]   # functions without source that issue a collective

    [tool.raf.lint]                     # [lint] in raf.toml
    select = ["rank-guarded-collective"]
    ignore = ["collective-in-finally"]
    collectives = ["ourlib.all_mean"]
    uniform = ["ourlib.is_distributed"] # functions that return the same on every rank
    per-file-ignores = { "tests/*" = ["*"] }

Folders are relative to the file. What the command line says comes before it.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

from msgspec import Struct

from .errors import UserError, told_as

_LISTS = ("src", "dumps", "collectives")


_LINT_LISTS = ("select", "ignore", "collectives", "uniform")


class LintSettings(Struct, frozen=True, kw_only=True):
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    collectives: tuple[str, ...] = ()
    uniform: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Settings(Struct, frozen=True, kw_only=True):
    src: tuple[Path, ...] = ()
    dumps: tuple[Path, ...] = ()
    torch: str | None = None
    collectives: tuple[str, ...] = ()
    lint: LintSettings = LintSettings()


def settings() -> Settings:
    """Those of the working directory. Raises `UserError` for a file that says something else than it may."""
    return _of(Path.cwd())


@cache
def _of(here: Path) -> Settings:
    for folder in (here, *here.parents):
        for name, keys in (("raf.toml", ()), ("pyproject.toml", ("tool", "raf"))):
            found = _table(folder / name, keys)
            if found is not None:
                return _settings(found, folder / name)
    return Settings()


def _table(file: Path, keys: tuple[str, ...]) -> dict[str, object] | None:
    if not file.is_file():
        return None
    with told_as(str(file)):
        text = file.read_text(encoding="utf-8", errors="replace")
    if keys and f"[{'.'.join(keys)}" not in text:
        return None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found]
    try:
        found: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{file}: {error}") from error
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def _settings(table: dict[str, object], file: Path) -> Settings:
    known = [*_LISTS, "torch"]
    for key, value in table.items():
        if key == "lint":
            continue
        if key not in known:
            raise UserError(f"{file}: no setting '{key}'; there are {', '.join(known)}")
        words = value if isinstance(value, list) and key in _LISTS else [value]
        if not all(isinstance(word, str) for word in words):
            raise UserError(
                f"{file}: {key} is to be {'a word or a list of words' if key in _LISTS else 'a word'}"
            )
    torch = table.get("torch")
    return Settings(
        src=tuple(file.parent / word for word in _words(table, "src")),
        dumps=tuple(file.parent / word for word in _words(table, "dumps")),
        torch=torch if isinstance(torch, str) else None,
        collectives=tuple(_words(table, "collectives")),
        lint=_lint(table.get("lint", {}), file),
    )


def _lint(table: object, file: Path) -> LintSettings:
    """Raises `UserError` for what it does not know, or what has another shape."""
    known = [*_LINT_LISTS, "per-file-ignores"]
    if not isinstance(table, dict):
        raise UserError(f"{file}: lint is to be a table")
    for key, value in table.items():
        if key not in known:
            raise UserError(f"{file}: no setting 'lint.{key}'; there are {', '.join(known)}")
        lists = list(value.values()) if key == "per-file-ignores" and isinstance(value, dict) else [value]
        for each in lists:
            if not isinstance(each, list) or not all(isinstance(word, str) for word in each):
                raise UserError(
                    f"{file}: lint.{key} is to be a {'table of lists' if '-' in key else 'list'} of words"
                )
    files = table.get("per-file-ignores", {})
    return LintSettings(
        **{key: tuple(_words(table, key)) for key in _LINT_LISTS},
        per_file_ignores=tuple((pattern, tuple(words)) for pattern, words in files.items()),
    )


def _words(table: dict[str, object], key: str) -> list[str]:
    found = table.get(key, [])
    return [str(one) for one in found] if isinstance(found, list) else [str(found)]
