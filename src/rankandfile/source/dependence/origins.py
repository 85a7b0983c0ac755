"""Where a difference between ranks begins, in words."""

from __future__ import annotations

import ast

from rankandfile.source.program.modules import Program
from rankandfile.source.registry.entry import OWN_NUMBER, Source
from rankandfile.source.registry.python import JOB_VARIABLES, RANK_VARIABLES

from .assignments import Definition
from .frame import Frame
from .index import index_of
from .syntax import argument, constant, text
from .value import UNIFORM, UNKNOWN, Link, LinkKind, Value


def here(
    kind: str,
    words: str,
    e: ast.AST,
    frame: Frame,
    axes: frozenset[str] = frozenset(),
    *,
    of: LinkKind = "",
) -> Value:
    """A value that is `words`, from this place."""
    file, line = frame.function.module.path, getattr(e, "lineno", 0)
    link = Link(file, line, text(e), f"is {words} ({file}:{line})", kind=of)
    return Value("axes" if axes else "varying", axes=axes, source=kind, chain=(link,))


def from_table(source: Source, e: ast.expr, frame: Frame) -> Value:
    """What the registry says of a call or a property."""
    if source.unless and _has_a_word(frame.function.module.program, source.unless):
        return UNKNOWN
    axes: set[str] = set()
    if source.along.startswith("="):
        axes.add(source.along[1:])
    elif source.along not in ("", "*") and isinstance(e, ast.Call):
        axis = constant(argument(e, 0, source.along))
        axes.update([axis] if isinstance(axis, str) else [])
    named = bool(axes) and not source.along.startswith("=")
    return of_source(source, f" along `{min(axes)}`" if named else "", e, frame, frozenset(axes))


def of_source(source: Source, where: str, e: ast.expr, frame: Frame, axes: frozenset[str]) -> Value:
    """What it gives; `where`: along which axis, or within which group."""
    of: LinkKind = "own number" if source.gives_number else ""
    return here(source.kind, f"{source.words}{where}", e, frame, axes, of=of)


def _has_a_word(program: Program, words: tuple[str, ...]) -> bool:
    return any(word in module.text for module in index_of(program).modules for word in words)


def asked_of_environment(key: ast.expr | None, e: ast.expr, frame: Frame) -> Value:
    """What a launcher puts into the environment under a name, which may be handed to the function that asks."""
    return environment(_handed_in(key, frame), e, frame)


def _handed_in(key: ast.expr | None, frame: Frame) -> object:
    """The constant that an expression is, by the calls that lead here."""
    while isinstance(key, ast.Name) and frame.given is not None and key.id in frame.function.parameters:
        given = frame.given.get(key.id)
        if given is None:
            return constant(frame.function.defaults.get(key.id))
        if given.path:
            return None
        key, frame = given.value, given.frame
    return constant(key)


def environment(variable: object, e: ast.expr, frame: Frame) -> Value:
    if variable in RANK_VARIABLES:
        kind = (
            "rank_api"
            if str(variable).endswith(("RANK", "PROCID", "LOCALID", "PROCESS_ID"))
            else "environment"
        )
        if kind == "rank_api":
            return here(kind, OWN_NUMBER, e, frame, of="own number")
        return here(kind, "set by the launcher for this process or host", e, frame)
    return UNIFORM if variable in JOB_VARIABLES else UNKNOWN


def gradient(e: ast.Attribute, frame: Frame) -> Value:
    words = "computed from this rank's batches only, before any reduction"
    return here("local_data", words, e, frame, of="gradient")


def of_gradient(value: Value) -> bool:
    """Whether what differs is a gradient's numbers: of these, there are as many on every rank."""
    return bool(value.chain) and value.chain[-1].kind == "gradient"


def gradient_handed_over(name: str, frame: Frame) -> Value:
    words = "a gradient that autograd hands over, computed from this rank's batches"
    place = ast.copy_location(ast.Name(name), frame.function.node)
    return here("local_data", words, place, frame)


#: Calls that give what was asked for in the order in which it is done.
_AS_DONE = frozenset(
    {
        "asyncio.as_completed",
        "concurrent.futures.as_completed",
        "asyncio.tasks.as_completed",
        "multiprocessing.Pool.imap_unordered",
        "multiprocessing.pool.Pool.imap_unordered",
        "multiprocessing.pool.ThreadPool.imap_unordered",
    }
)


def as_done(name: str) -> bool:
    return name in _AS_DONE


def arrival(e: ast.expr, frame: Frame) -> Value:
    return here("arrival", "the order in which things are done, on each rank another one", e, frame)


def set_order(e: ast.expr, frame: Frame) -> Value:
    return here("set_order", "a set, whose order differs from process to process", e, frame)


def exception_link(file: str, d: Definition) -> Link:
    words = f"is an exception that this rank alone has met ({file}:{d.line})"
    return Link(file, d.line, d.name, words, kind="met alone")
