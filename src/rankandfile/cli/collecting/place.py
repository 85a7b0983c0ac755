"""Where what is gathered goes: a folder, or an archive that is made of one."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from rankandfile.cli.output import may_be_folder, may_be_written

#: Of an archive: what `raf condense` writes is called a case, too.
_SUFFIXES = (".case", ".zip")


class Place(Struct, frozen=True, kw_only=True):
    """Where what is gathered goes."""

    folder: Path
    archive: Path | None = None

    @property
    def named(self) -> Path:
        return self.archive or self.folder


def may_be_place(output: Path | None) -> Path | None:
    """The user's error before anything is asked, where neither a folder nor an archive of that name can be made."""
    return may_be_written(output) if output is not None and _is_archive(output) else may_be_folder(output)


def place_of(output: Path) -> Place:
    """An archive is made of a folder beside it, which stays until all has come."""
    if not _is_archive(output):
        return Place(folder=output)
    return Place(folder=output.with_name(f"{output.name}.collecting"), archive=output)


def _is_archive(output: Path) -> bool:
    return output.suffix.lower() in _SUFFIXES and not output.is_dir()
