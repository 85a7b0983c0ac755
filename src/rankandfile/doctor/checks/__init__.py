"""What the doctor looks for, one check a file: its name is its word; `check` makes findings of the setup of a job."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from rankandfile import listing
from rankandfile.doctor.job_setup import JobSetup
from rankandfile.model.settings import Finding


def findings(setup: JobSetup) -> Iterator[Finding]:
    """What every check has to say of the setup of a job."""
    for module in listing.modules(__name__):
        for finding in module.check(setup):
            yield structs.replace(finding, check=listing.word(module))
