"""What the doctor looks for, one check a file: its name is its word, its `check` goes from a subject to findings."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from msgspec import structs

from rankandfile import listing
from rankandfile.doctor.subject import Subject
from rankandfile.model.settings import Finding


def findings(subject: Subject) -> Iterator[Finding]:
    """What every check has to say of the subject."""
    for module in listing.modules(__name__):
        for finding in module.check(subject):
            yield structs.replace(finding, check=word(module))


def word(module: ModuleType) -> str:
    """`dump_path.py` -> `dump-path`, as its findings are signed."""
    return module.__name__.rpartition(".")[2].replace("_", "-")
