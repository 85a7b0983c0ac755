"""Where what is gathered goes: a folder, or an archive that is made of one."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from rankandfile.cli.errors import UserError
from rankandfile.cli.output import may_be_folder, may_be_written

_ARCHIVE = ".zip"


class Place(Struct, frozen=True, kw_only=True):
    """Where what is gathered goes."""

    folder: Path
    archive: Path | None = None

    @property
    def named(self) -> Path:
        return self.archive or self.folder


def may_be_place(output: Path | None) -> Path | None:
    """The user's error before anything is asked, where neither a folder nor an archive of that name can be made."""
    if output is not None and output.suffix.lower() == _ARCHIVE:
        return may_be_written(output)
    return may_be_folder(output)


def place_of(output: Path) -> Place:
    """An archive is made of a folder beside it, which stays until all has come. Raises `UserError`."""
    if output.suffix.lower() != _ARCHIVE:
        return Place(folder=output)
    folder = output.with_name(f"{output.name}.collecting")
    if output.exists() and not folder.exists():
        raise UserError(
            f"{output}: is there, and whole: nothing is added to it; name another one, or a folder"
        )
    return Place(folder=folder, archive=output)
