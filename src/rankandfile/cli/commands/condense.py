"""``raf condense``: a node's evidence made small where it lies, so that little travels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.loading import Paths, given_paths, reading
from rankandfile.cli.output import file_output, of_suffix
from rankandfile.cli.panels import SHARE
from rankandfile.cli.progress import watching
from rankandfile.cli.standard_input import by_its_name
from rankandfile.pipeline import Options, all_there, nothing_found

PANEL = SHARE
ORDER = 105
EXAMPLES = (
    "raf condense dumps/ -o node3.case",
    "raf condense dumps/ logs/ -o node3.case",
    "raf diagnose node3.case",
    "raf diagnose node3.case dumps-of-node4/",
)


@reading
def condense(
    options: Options,
    paths: Paths,
    output: Annotated[Path, file_output("The file to write (a .case).")],
    force: Annotated[bool, Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Make a node's evidence small, where it lies: the diagnosis stays the same, and little needs to travel.

    Dumps and rings keep all calls, stacks and groups. Of the times they keep what a verdict is drawn from: all of the
    newest calls and of those that have not ended, and the millisecond in which each of the others was made. Large logs
    keep the lines that say something, and their two ends. All else is packed as it is; what is no evidence is left out.

    Every command takes what it writes, several of them, and dumps as they are beside them. Names are not replaced: raf
    case pack --redact does that.

    Exit status: 0 written, 2 usage or unreadable input.
    """
    from rankandfile.evidence.condensed.condense import condense as write
    from rankandfile.evidence.files.expansion_budget import amount

    of_suffix(output, dict.fromkeys((".case", ""), "case"), ".case", name_it="")
    if output.exists() and not force:
        raise UserError(f"{output}: exists; use --force to replace it")
    with by_its_name(), watching() as on_progress:
        there = all_there(given_paths(paths), elsewhere=True)
        for path in there:
            _refuse_case(path)
        show = None if on_progress is None else lambda done, of: on_progress("condensing", done, of)
        with told_as(f"{output}: cannot be written"):
            done = write(there, output, options.limits, options.decoding(), show)
    if not done.files:
        raise UserError(nothing_found(there, [str(note) for note in done.notes]))
    less = f", {done.before / done.after:,.0f} times less" if done.before > 2 * done.after else ""
    files = f"{done.files:,} {'file' if done.files == 1 else 'files'}, {done.dumps:,} with calls"
    out.print(f"{output}: {amount(done.after)} of {amount(done.before)}{less}: {files}", soft_wrap=True)
    if done.left_out:
        err.print(f"left out, as no evidence: {done.left_out:,} files")
    for note in done.notes:
        err.print(f"note: {note}")


def _refuse_case(path: Path) -> None:
    """Tables of a case are of calls that were put together already, of all nodes."""
    made = "condense the evidence that it was made of"
    if (path / "case.json").is_file():
        raise UserError(f"{path}: a case directory; {made}")
    if path.suffix.lower() == ".zip" and path.is_file():
        from rankandfile.evidence.pack.opening import is_pack

        if is_pack(path):
            raise UserError(f"{path}: an archive of raf case pack; {made}")
