"""``raf case open``: from a ticket's archive back to a case directory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

from typer import Argument

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.output import folder_output

ORDER = 20
EXAMPLES = ("raf case open ticket.zip", "raf case open ticket.zip -o case/ && raf show waits case/")


def open_(
    archive: Annotated[Path, Argument(help="An archive made by raf case pack.")],
    output: Annotated[
        Path | None,
        folder_output("Directory to write to. Default: the archive's name without .zip."),
    ] = None,
) -> None:
    """Unpack an archive of `raf case pack` into a case directory, with care: it may be a stranger's.

    Sizes and names are checked, and its tables are read once in a process of their own. The raw evidence, where the
    archive has it, goes to the folder `evidence` in that directory.

    Exit status: 0 unpacked, 2 usage or unreadable input.
    """
    from rankandfile.evidence.pack.opening import is_pack, unpack

    if archive.is_dir():
        raise UserError(
            f"{archive}: a folder, and no archive of raf case pack; raf reads it as it is: raf {archive}"
        )
    if not archive.is_file():
        raise UserError(f"{archive}: no such file")
    if not is_pack(archive):
        raise UserError(f"{archive}: not an archive of raf case pack; other evidence needs no opening")
    target = output or archive.with_suffix("")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UserError(f"{target}: exists and is not an empty directory; name another with -o")
    with told_as(f"{target}: cannot be written"), tempfile.TemporaryDirectory(prefix="raf-") as spool:
        pack, notes = unpack(archive, Path(spool), target)
    names = "with pseudonyms" if pack.redacted else "with its names"
    more = f"; the evidence is in {target / 'evidence'}" if pack.raw else ""
    out.print(f"{target}: a case, {names}{more}")
    for note in notes:
        err.print(f"note: {note}")
