"""A whole case redacted: every column that holds words has a rule here, and a column without one is taken for text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import polars as pl
from msgspec.structs import replace

from rankandfile.model.case import Case
from rankandfile.model.ledger import Note
from rankandfile.model.tables import TABLES

from .names import Names
from .patterns import PATH
from .pseudonyms import Pseudonyms
from .public import is_file, is_folder, may_be_searched
from .text import Redactor

#: The product's own words, and numbers written as words.
_OWN = (
    "calls.op", "groups.members_from", "dumps.format", "dumps.rank_from", "snapshots.rank_from", "stack_files.format",
    "events.kind", "events.shape", "events.rank_from", "events.signal", "logs.rank_from", "logs.prefixes",
    "logs.torch", "snapshots.asked", "exits.state", "exits.signal", "exits.kind", "exits.evidence", "shapes.in_dtypes",
    "shapes.out_dtypes",
)  # fmt: skip
_RULES: dict[str, Callable[[Redactor], Callable[[str], str]]] = {
    **dict.fromkeys(
        ("calls.name", "calls.thread", "groups.name", "groups.desc", "frames.function", "dumps.version",
         "dumps.library", "dumps.backend", "snapshots.thread_name", "events.group_name", "events.group_desc",
         "events.op"),
        lambda redactor: redactor.name,
    ),
    **dict.fromkeys(
        ("frames.file", "dumps.source", "stack_files.source", "logs.source", "exits.source"),
        lambda redactor: redactor.path,
    ),
    **dict.fromkeys(
        ("dumps.host", "snapshots.host", "stack_files.host", "events.host", "logs.host", "exits.host"),
        lambda redactor: redactor.host,
    ),
    "events.fields": lambda redactor: redactor.document,
    "snapshots.locals": lambda redactor: redactor.variables,
}  # fmt: skip


def redact(case: Case, names: Names | None = None) -> tuple[Case, Pseudonyms]:
    """The case with pseudonyms, and which were given. `names`: what is to be hidden besides what is found."""
    names, pseudonyms = names or Names(), Pseudonyms()
    learn(case, names)
    redactor = Redactor(names, pseudonyms)
    tables = {name: _table(name, table, redactor) for name, table in case.tables().items()}
    notes = tuple(
        Note(file=redactor.path(note.file), where=redactor.text(note.where), what=redactor.text(note.what))
        for note in case.notes
    )
    return replace(case, **tables, notes=notes), pseudonyms


def learn(case: Case, names: Names) -> None:
    """The names in the case's own texts."""
    for table, column in _columns("host"):
        for host in case.tables()[table][column].drop_nulls().unique():
            names.host(host)
    for text in texts(case):
        names.learn(text)
    # After the people: a folder named as a user is that user's.
    for path in _paths(case):
        steps = [step for step in path.replace("!/", "/").replace("\\", "/").split("/")[:-1] if step]
        names.folders.update(
            step.lower()
            for step in steps
            if may_be_searched(step) and not is_folder(step) and not is_file(step) and not names.kind(step)
        )


def _columns(name: str) -> Iterator[tuple[str, str]]:
    return ((table, c.name) for table, columns in TABLES.items() for c in columns if c.name == name)


def texts(case: Case) -> Iterator[str]:
    """All distinct texts of a case, but for the product's own words and the names of functions."""
    for table in TABLES:
        for column in case.tables()[table].iter_columns():
            key = f"{table}.{column.name}"
            if _is_words(column.dtype) and key not in _OWN and key != "frames.function":
                yield from _unique(column)
    for note in case.notes:
        yield from (note.file, note.what)


def _paths(case: Case) -> Iterator[str]:
    for table, column in (*_columns("source"), *_columns("file")):
        values = case.tables()[table][column]
        if values.dtype == pl.String:
            yield from _unique(values)
    for text in texts(case):
        yield from (match[0] for match in PATH.finditer(text))


def _is_words(dtype: pl.DataType) -> bool:
    inner = dtype.inner if isinstance(dtype, pl.List) else dtype
    return isinstance(inner, (pl.String, pl.Categorical)) or inner in (pl.String, pl.Categorical)


def _unique(column: pl.Series) -> Iterable[str]:
    if isinstance(column.dtype, pl.List):
        column = column.explode()
    found: list[str] = column.drop_nulls().cast(pl.String).unique().to_list()
    return found


def _table(name: str, table: pl.DataFrame, redactor: Redactor) -> pl.DataFrame:
    return table.with_columns(
        _column(column, _RULES.get(f"{name}.{column.name}", _as_text)(redactor))
        for column in table.iter_columns()
        if _is_words(column.dtype) and f"{name}.{column.name}" not in _OWN
    )


def _as_text(redactor: Redactor) -> Callable[[str], str]:
    return redactor.text


def _column(column: pl.Series, rule: Callable[[str], str]) -> pl.Series:
    """The column with each distinct value replaced once."""
    new = {value: rule(value) for value in sorted(_unique(column))}
    if isinstance(column.dtype, pl.List):
        lists = [None if row is None else [new.get(word, word) for word in row] for row in column.to_list()]
        return pl.Series(column.name, lists, dtype=column.dtype)
    words: pl.Series = column.cast(pl.String).replace(new) if new else column
    done: pl.Series = words.cast(column.dtype)
    return done
