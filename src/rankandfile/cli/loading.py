"""What a command is given: the evidence, and the options that may change an answer, the same for all commands."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec.structs import replace
from typer import Argument, Option

from rankandfile import pipeline
from rankandfile.cluster.chosen import chosen
from rankandfile.evidence.files.addresses import address_of
from rankandfile.evidence.files.limits import MIB, Limits
from rankandfile.pipeline import OnStep, Options, Result

from .errors import UserError
from .progress import watching
from .settings import settings
from .standard_input import by_its_name, is_piped, with_standard_input

if TYPE_CHECKING:
    from rankandfile.model.case import Case
    from rankandfile.render.card.asked import Asked


def _usual_paths() -> list[Path]:
    return list(settings().dumps)


Paths = Annotated[
    list[Path],
    Argument(
        help="Dumps, stacks, logs, folders or archives of them, in any mix, or a case directory, also at s3://, gs:// "
        "or abfs://; - is standard input.",
        metavar="PATH...",
        default_factory=_usual_paths,
        show_default=False,
    ),
]
Sources = Annotated[
    list[Path] | None,
    Option(
        "--src",
        metavar="DIR",
        help="Folder, zip file or wheel with the job's source; may be given several times.",
    ),
]
Source = Annotated[
    Path | None,
    Option(
        "--src",
        metavar="DIR",
        help="The program's source, where the recorder's own copies are not to be used.",
    ),
]
"""The same for a job that is watched, and so runs from one place."""
Revision = Annotated[
    str | None,
    Option("--git", metavar="REV", help="Read the folders of --src as they were in this commit."),
]
Hung = Annotated[
    bool,
    Option("--hung", help="The job did hang: for dumps whose files have lost the time of writing."),
]
Attempt = Annotated[
    int | None,
    Option(
        "--attempt",
        min=1,
        help="Which attempt of the job, 1 being the earliest. Default: the latest that has most of its ranks.",
    ),
]
Jobs = Annotated[int | None, Option("--jobs", min=1, help="Decoding processes. Default: one per processor.")]

EngineWord = Annotated[
    str | None,
    Option(
        "--engine",
        metavar="ENGINE",
        help="Decode the files as tasks of Ray: ray (the cluster of RAY_ADDRESS, or one started here for it) or "
        "ray://HOST:PORT. Default: processes of this machine.",
    ),
]
LimitSeconds = Annotated[
    float, Option("--limit-seconds", min=1, metavar="N", help="Longest that reading the evidence may take.")
]
LimitFiles = Annotated[
    int,
    Option("--limit-files", min=1, metavar="N", help="Most files that are looked at, those in archives too."),
]
LimitMemory = Annotated[
    int | None,
    Option(
        "--limit-memory",
        min=1,
        metavar="MB",
        help="Most memory that what is read may take. Default: half of what is there.",
    ),
]
FollowLinks = Annotated[
    bool, Option("--follow-links", help="Follow links that lead out of the folders that were named, too.")
]
_LIMITS = Limits()


def _to_read(
    jobs: Jobs = None,
    engine: EngineWord = None,
    limit_seconds: LimitSeconds = _LIMITS.seconds,
    limit_files: LimitFiles = _LIMITS.files,
    limit_memory: LimitMemory = None,
    follow_links: FollowLinks = False,
) -> Options:
    limits = Limits(seconds=limit_seconds, files=limit_files, follow_links=follow_links)
    if limit_memory is not None:
        limits = replace(limits, memory_bytes=limit_memory * MIB)
    return Options(jobs=jobs, engine=chosen(engine, jobs), limits=limits)


def _to_load(
    attempt: Attempt = None,
    jobs: Jobs = None,
    engine: EngineWord = None,
    limit_seconds: LimitSeconds = _LIMITS.seconds,
    limit_files: LimitFiles = _LIMITS.files,
    limit_memory: LimitMemory = None,
    follow_links: FollowLinks = False,
) -> Options:
    reading = _to_read(jobs, engine, limit_seconds, limit_files, limit_memory, follow_links)
    return replace(reading, attempt=attempt)


def _to_diagnose(
    src: Sources = None,
    git: Revision = None,
    hung: Hung = False,
    attempt: Attempt = None,
    jobs: Jobs = None,
    engine: EngineWord = None,
    limit_seconds: LimitSeconds = _LIMITS.seconds,
    limit_files: LimitFiles = _LIMITS.files,
    limit_memory: LimitMemory = None,
    follow_links: FollowLinks = False,
) -> Options:
    loading = _to_load(attempt, jobs, engine, limit_seconds, limit_files, limit_memory, follow_links)
    own = settings()
    sources = tuple(src or own.src)
    return replace(loading, sources=sources, revision=git, hung=hung, collectives=own.collectives)


def diagnosing(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of a diagnosis, such as `--src`, in place of its parameter `options`."""
    return _with(_to_diagnose, command)


def reading(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of reading files, such as `--jobs`, in place of its parameter `options`."""
    return _with(_to_read, command)


def loading(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of a case, such as `--jobs`, in place of its parameter `options`."""
    return _with(_to_load, command)


def _with(made: Callable[..., Options], command: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(command, eval_str=True)
    shared = inspect.signature(made, eval_str=True).parameters
    own = [one for name, one in signature.parameters.items() if name != "options"]

    whole = signature.replace(parameters=[*own, *shared.values()])

    @wraps(command)
    def with_options(*args: Any, **kwargs: Any) -> None:
        given = whole.bind(*args, **kwargs)
        given.apply_defaults()
        options = made(**{name: given.arguments.pop(name) for name in shared})
        command(**given.arguments, options=options)

    with_options.__signature__ = whole  # type: ignore[attr-defined]
    with_options.__annotations__ = {one.name: one.annotation for one in whole.parameters.values()}
    return with_options


def as_typed(paths: Sequence[Path], options: Options, page: Path | None = None) -> Asked:
    """What was asked, for the commands that a card tells to go on with. What came through a pipe is gone by then."""
    from rankandfile.render.card.asked import Asked

    written = "" if page is None else shlex.quote(str(page))
    if not paths or is_piped(paths):
        return Asked(page=written)
    evidence = [address_of(path) or str(path) for path in paths]
    evidence += ["--attempt", str(options.attempt)] if options.attempt is not None else []
    own = options.sources == tuple(settings().src)
    more = [] if own else [word for source in options.sources for word in ("--src", str(source))]
    more += ["--git", options.revision] if options.revision is not None else []
    more += ["--hung"] if options.hung else []
    return Asked(shlex.join(evidence), shlex.join(more), bool(options.sources), written)


def load_case(paths: Sequence[Path], options: Options) -> Case:
    """The case in `paths`, with its progress on the terminal."""
    given = given_paths(paths)
    with by_its_name(), watching() as on_progress:
        return pipeline.load(given, options, on_progress=on_progress)


def diagnosed(paths: Sequence[Path], options: Options, on_step: OnStep | None = None) -> Result:
    """The diagnosis of what is in `paths`, and all that it was drawn from, with its progress on the terminal."""
    given = given_paths(paths)
    with by_its_name(), watching() as on_progress:
        return pipeline.run(given, options, on_progress=on_progress, on_step=on_step)


def given_paths(paths: Sequence[Path]) -> list[Path]:
    if not paths:
        raise UserError("which evidence? Name dumps, stacks, logs, or a folder of them: raf diagnose dumps/")
    return with_standard_input(paths)
