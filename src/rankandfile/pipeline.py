"""The one way from what a job left behind to its diagnosis: load, facts, verdict, what the source adds, advice.

Every door goes this way: the commands, the Python API, the agent's tools, the lab's scorer. What may change an answer
is in `Options`, so that two doors which are given the same options give the same answer. Importing this module is
cheap: each stage loads what it needs when it begins.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from rankandfile.evidence.files.addresses import address_of, how_to_copy, of_this_machine
from rankandfile.evidence.files.engine import Engine, Here
from rankandfile.evidence.files.limits import Limits
from rankandfile.model.code_read import NO_CODE, CodeRead
from rankandfile.model.errors import UserError

if TYPE_CHECKING:
    from rankandfile.model.case import Case
    from rankandfile.model.diagnosis import Diagnosis
    from rankandfile.model.ledger import Note
    from rankandfile.reason import Facts
    from rankandfile.source.files.tree import SourceTree
    from rankandfile.source.lines.found_line import Search

OnProgress = Callable[[str, int, int], None]
"""Is told which stage runs, how many of its files are done, and of how many: 0 where none are counted."""
OnStep = Callable[[str], None]
"""Is told each step of the reasoning, in one line."""


class Options(Struct, frozen=True, kw_only=True):
    """What a person says beside the evidence itself."""

    sources: tuple[Path, ...] = ()
    """Folders, zip files or wheels with the job's source."""
    revision: str | None = None
    """The folders of `sources` as they were in this commit."""
    hung: bool = False
    """The job did hang, whatever the times of the files say."""
    attempt: int | None = None
    """Which attempt of the job, 1 being the earliest. None: the latest that has most of its ranks."""
    prefix: str | None = None
    """What stands right before the rank in a file's name; other files are not of the job."""
    collectives: tuple[str, ...] = ()
    """Dotted names of functions whose source is not there, and that are known to issue a collective."""
    replica_ranks: int | None = None
    """Ranks per replica group (torchft), whose dumps count their members from 0."""
    jobs: int | None = None
    """Decoding processes. None: one per processor. It changes no answer."""
    engine: Engine | None = None
    """Who decodes. None: processes of this machine. It changes no answer, either."""
    limits: Limits = Limits()
    """What reading may cost; what is left out for it is in the notes."""

    def decoding(self) -> Engine:
        return self.engine or Here(self.jobs)


class Result(Struct, frozen=True, kw_only=True):
    """A diagnosis, and everything that it was drawn from."""

    case: Case
    facts: Facts
    tree: SourceTree | None
    """The source, as it ran."""
    diagnosis: Diagnosis
    source_notes: tuple[Note, ...] = ()
    """What of the source does not match what ran; these notes are among the diagnosis's own, too."""


def run(
    paths: Sequence[Path],
    options: Options = Options(),
    *,
    on_progress: OnProgress | None = None,
    on_step: OnStep | None = None,
) -> Result:
    """The whole way. Raises `UserError` for what cannot be read, or says nothing of a job."""
    # First the source: that there is none is said at once, and not after minutes of decoding.
    tree = _source(options)
    case = _load(paths, options, on_progress, lambda: _warm(tree is not None))
    return _diagnosed(case, tree, options, on_progress, on_step)


def load(
    paths: Sequence[Path], options: Options = Options(), *, on_progress: OnProgress | None = None
) -> Case:
    """The case in these files, folders and archives; what of them could not be read is in its notes.

    Raises `UserError` where nothing at all tells of a job.
    """
    return _load(paths, options, on_progress)


def _load(
    paths: Sequence[Path],
    options: Options,
    on_progress: OnProgress | None,
    meanwhile: Callable[[], object] = int,
) -> Case:
    from rankandfile.evidence.load import load as read
    from rankandfile.evidence.objects.at_hand import at_hand
    from rankandfile.evidence.reading import Reading

    paths = all_there(paths, elsewhere=True)
    engine = options.decoding()
    reading = Reading(options.prefix, options.replica_ranks, options.attempt)
    _say(on_progress, "reading")
    with (
        at_hand(paths, options.limits, engine.reads_objects, _counting(on_progress, "copying")) as copied,
        tempfile.TemporaryDirectory(prefix="raf-") as spool,
    ):
        case = read(
            copied.paths,
            Path(spool),
            engine=engine,
            copied=copied,
            limits=options.limits,
            reading=reading,
            on_progress=_counting(on_progress, "reading"),
            meanwhile=meanwhile,
        )
        if not _tells_of_a_job(case):
            raise UserError(nothing_found(copied.paths, [str(note) for note in case.notes]))
    return case


def _counting(on_progress: OnProgress | None, stage: str) -> Callable[[int, int], None] | None:
    return None if on_progress is None else lambda done, of: on_progress(stage, done, of)


def _warm(source: bool) -> None:
    """Load what the later stages need while other processes decode: with little evidence that is most of the time."""
    for name in (
        "reason.conclusion",
        "reason.tools",
        *(("source.findings", "source.remedies") if source else ()),
    ):
        import_module(f"rankandfile.{name}")
    from rankandfile.reason.causes import finders

    finders()
    if source:
        from rankandfile.source.remedies import choose

        choose.patterns()


def diagnose(
    case: Case,
    options: Options = Options(),
    *,
    on_progress: OnProgress | None = None,
    on_step: OnStep | None = None,
) -> Result:
    """The way from a case that has been loaded. Raises `UserError` for source that cannot be read."""
    return _diagnosed(case, _source(options), options, on_progress, on_step)


def _diagnosed(
    case: Case,
    tree: SourceTree | None,
    options: Options,
    on_progress: OnProgress | None,
    on_step: OnStep | None,
) -> Result:
    from rankandfile.reason import concluded, gather, victims_of_somebody

    _say(on_progress, "reasoning")
    tree = _as_it_ran(tree, case)
    if tree is not None:
        from rankandfile.source.registry.tables import also_collectives

        also_collectives(options.collectives)
    search = None if tree is None else _search(case, tree)
    facts = gather(case, on_step, options.hung, NO_CODE if search is None else _code_read(search))
    conclusion = concluded(facts)
    if search is None:
        return Result(case=case, facts=facts, tree=None, diagnosis=victims_of_somebody(conclusion).document())
    from rankandfile.reason import with_source
    from rankandfile.source.findings import source_findings
    from rankandfile.source.remedies import advise

    _say(on_progress, "reading the source")
    found = source_findings(search, conclusion.verdicts())
    conclusion = victims_of_somebody(with_source(conclusion, found, case))
    advised = advise(conclusion.document(), search.tree)
    return Result(case=case, facts=facts, tree=search.tree, diagnosis=advised, source_notes=found.notes)


def _search(case: Case, tree: SourceTree) -> Search:
    from rankandfile.source.lines.found_line import Search

    return Search(case, tree)


def _code_read(search: Search) -> CodeRead:
    from rankandfile.source.lines.code_read import code_read

    return code_read(search)


def _source(options: Options) -> SourceTree | None:
    """The tree that was named; None if none was."""
    if not options.sources:
        if options.revision is not None:
            raise UserError("--git needs --src: the folder of the repository that has the commit")
        return None
    return _opened(all_there(options.sources), options.revision)


def _opened(sources: Sequence[Path], revision: str | None) -> SourceTree:
    from rankandfile.source.files.tree import open_tree

    tree = open_tree(sources, revision)
    if not any(True for _ in tree.paths()):
        raise UserError(f"no Python file in {', '.join(map(str, sources))}")
    return tree


def _as_it_ran(tree: SourceTree | None, case: Case) -> SourceTree | None:
    """The tree as the job's recorder saw it; the recorder's own copies where none was named."""
    if case.sources:
        from rankandfile.source.files.recorded import as_it_ran

        tree = as_it_ran(tree, case.sources)
    return tree


def _tells_of_a_job(case: Case) -> bool:
    """A log in which nobody complains is a job's all the same, if its name or its lines say whose it is."""
    if any(len(table) for table in (case.dumps, case.snapshots, case.events, case.exits)):
        return True
    logs = case.logs
    return any(rank is not None for rank in logs["rank"]) or any(len(found) for found in logs["prefixes"])


def nothing_found(paths: Sequence[Path], notes: list[str]) -> str:
    from rankandfile.evidence.files.looked_at import looked_at

    where = ", ".join(str(path) for path in paths[:3]) + (" ..." if len(paths) > 3 else "")
    found = looked_at(paths)
    why = f" ({notes[0]}{f'; {len(notes) - 1} more notes' if len(notes) > 1 else ''})" if notes else ""
    if found == "no file":
        # Where a folder may not be read, nobody knows what is in it.
        return f"{where}: no file {'found ' if why else ''}in it{why}; raf reads {_READS}"
    source = "; source is read by raf lint" if ".py" in found else ""
    return f"{where}: nothing there tells of a job{why}; looked at {found}; raf reads {_READS}{source}"


_READS = "flight recorder dumps, stacks, logs, and archives of them"


def all_there(paths: Sequence[Path], elsewhere: bool = False) -> list[Path]:
    """The files and folders that these name. Raises `UserError` where one of them is not there. `elsewhere`: addresses
    of objects may be among them, and are left as they are."""
    there = [of_this_machine(path) for path in paths]
    for path in there:
        if not path.exists() and not (elsewhere and address_of(path)):
            raise UserError(how_to_copy(str(path)) or f"{path}: no such file or directory{_nearest(path)}")
    return there


def _nearest(path: Path) -> str:
    try:
        near = get_close_matches(path.name, [one.name for one in path.parent.iterdir()], 1)
    except OSError:
        return ""
    return f"; perhaps {path.with_name(near[0])}?" if near else ""


def _say(on_progress: OnProgress | None, stage: str) -> None:
    if on_progress is not None:
        on_progress(stage, 0, 0)
