"""``raf case pack``: everything a helper needs in one archive, and nothing that tells whose job it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace
from typer import Option

from rankandfile.cli.console import err, out
from rankandfile.cli.errors import UserError, told_as
from rankandfile.cli.loading import Paths, load_case, loading
from rankandfile.cli.output import file_output, of_suffix
from rankandfile.pipeline import Options

if TYPE_CHECKING:
    from rankandfile.evidence.redact.names import Names
    from rankandfile.evidence.redact.pseudonyms import Pseudonyms
    from rankandfile.model.case import Case

ORDER = 10
EXAMPLES = (
    "raf case pack dumps/ logs/ -o ticket.zip --redact",
    "raf case pack evidence/ --redact --hide ProjectX --dry-run",
    "raf case pack evidence/ --redact --review > words.txt",
    "raf case pack evidence/ --redact --hide @words.txt -o ticket.zip",
    "raf case pack evidence/ -o ticket.zip --raw",
    "raf diagnose ticket.zip",
)

#: What each kind of pseudonym stands for.
_KINDS = {
    "secret": "keys, tokens, passwords",
    "host": "hosts",
    "net": "domains",
    "ip": "IP addresses",
    "mac": "hardware addresses",
    "user": "users",
    "mail": "e-mail addresses",
    "name": "names of namespaces, jobs, images and the like",
    "id": "accounts and identifiers",
    "dir": "folders",
    "file": "file names",
    "text": "values of variables",
    "word": "words of yours",
}
_SHOWN = 3


@loading
def pack(
    options: Options,
    paths: Paths,
    output: Annotated[
        Path | None,
        file_output("The archive to write (a .zip)."),
    ] = None,
    redact: Annotated[
        bool,
        Option(
            "--redact", help="Replace hosts, users, folders, addresses and secrets by pseudonyms for good."
        ),
    ] = False,
    hide: Annotated[
        list[str] | None,
        Option(
            "--hide",
            metavar="WORD",
            help="With --redact: replace this word too; @FILE has one in each line. Repeatable.",
        ),
    ] = None,
    review: Annotated[
        bool,
        Option(
            "--review",
            help="With --redact: write nothing; list the words left that are of no language of jobs, to read. "
            "Give the list back with --hide @FILE, without those that may stay.",
        ),
    ] = False,
    raw: Annotated[
        bool, Option("--raw", help="Add the evidence itself, as it is. Not with --redact.")
    ] = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Write nothing; show what would be replaced, and by what.")
    ] = False,
    force: Annotated[bool, Option("--force", help="Replace an archive that exists.")] = False,
) -> None:
    """Make one archive for a support ticket: the case's tables and ledger, and the raw evidence where wanted.

    Every command takes the archive as it takes the evidence, and gives the same verdict. With --redact the names in it
    become pseudonyms, the same everywhere in the archive, keyed with a secret that is kept nowhere. Ranks, groups,
    operations, times, function names, and the file names of sources stay.

    Exit status: 0 written (or, with --dry-run, shown), 2 usage or unreadable input.
    """
    _check(output, redact=redact, hide=hide or [], raw=raw, dry_run=dry_run or review, force=force)
    case = load_case(paths, options)
    pseudonyms = None
    if redact:
        from rankandfile.evidence.redact.tables import redact as redact_case

        case, pseudonyms = redact_case(case, _names(hide or []))
        if review:
            _say_unknown(case)
            return
        case = _marked(case, output)
        _say_replaced(pseudonyms, with_examples=dry_run)
    if dry_run or output is None:
        return
    from rankandfile.evidence.pack.writing import write

    counts = {kind: len(values) for kind, values in pseudonyms.given().items()} if pseudonyms else None
    with told_as(f"{output}: cannot be written"):
        write(
            case, output, redacted=counts, raw=paths if raw else (), follow_links=options.limits.follow_links
        )
    _say_written(output, redacted=redact, raw=raw)


def _check(
    output: Path | None, *, redact: bool, hide: list[str], raw: bool, dry_run: bool, force: bool
) -> None:
    if output is None and not dry_run:
        raise UserError("where to? Name the archive with -o ticket.zip, or look first with --dry-run")
    if redact and raw:
        raise UserError("--raw adds the evidence as it is, names and all: leave out --raw or --redact")
    if hide and not redact:
        raise UserError("--hide needs --redact")
    if dry_run and not redact:
        raise UserError("--dry-run shows what --redact would replace: add --redact")
    if output is not None:
        of_suffix(output, dict.fromkeys((".zip", ""), "zip"), ".zip", name_it="")
    if output is not None and output.exists() and not force and not dry_run:
        raise UserError(f"{output}: exists; use --force to replace it")


def _names(hide: list[str]) -> Names:
    """What is to be hidden in any case: the words asked for, and whoever packs on whatever machine."""
    from rankandfile.evidence.redact.names import Names

    names = Names(words={word for one in hide for word in _words(one)})
    names.learn_own()
    return names


def _words(hide: str) -> list[str]:
    """A word, or those of a file: the first of each line, as `--review` prints them."""
    if not hide.startswith("@"):
        return [hide.strip().lower()] if hide.strip() else []
    with told_as(f"{hide[1:]}: cannot be read"):
        lines = Path(hide[1:]).read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.split()[0].lower() for line in lines if line.strip() and not line.startswith("#")]


def _say_unknown(case: Case) -> None:
    from rankandfile.evidence.redact.review import unknown_words

    found = unknown_words(case)
    for one in found:
        out.print(
            f"{one.word}  # {one.places:,}: {one.example}", soft_wrap=True, markup=False, highlight=False
        )
    err.print(
        f"{len(found):,} words are left that may name somebody, the rarest first. Take out those that may stay, and "
        "give the others back with --hide @FILE."
    )


def _marked(case: Case, output: Path | None) -> Case:
    from rankandfile.model.ledger import Note

    what = "names in this case are pseudonyms: hosts, users, folders, addresses, secrets"
    note = Note(file=output.name if output else "case", where="", what=what)
    return replace(case, notes=(note, *case.notes))


def _say_replaced(pseudonyms: Pseudonyms, *, with_examples: bool) -> None:
    given = pseudonyms.given()
    if not given:
        out.print("nothing to replace was found")
    for kind, what in _KINDS.items():
        values = given.get(kind)
        if not values:
            continue
        places = pseudonyms.places[kind]
        out.print(f"{len(values):,} {what} replaced, in {places:,} place{'' if places == 1 else 's'}")
        for value, name in list(values.items())[: _SHOWN if with_examples else 0]:
            shown = value if kind != "secret" else f"{value[:4]}…"
            out.print(f"  {shown if len(shown) < 60 else shown[:59] + '…'} → {name}")


def _say_written(output: Path, *, redacted: bool, raw: bool) -> None:
    size = output.stat().st_size
    held = (
        "the case" + (", with pseudonyms" if redacted else "") + (", and the evidence itself" if raw else "")
    )
    out.print(f"{output}: {size / 1024:,.0f} KiB: {held}")
    if not redacted:
        err.print("It holds names of hosts, users and folders, and lines of logs: --redact replaces them.")
    else:
        err.print(
            "A pattern can miss what only you know: --review lists the words that are left, --hide replaces them."
        )
