"""The pages of the cases, made when first asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support.report.jobs import Case, drawn, evidence_of, write_page


@pytest.fixture(scope="session")
def case_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Case]:
    made: dict[str, Case] = {}

    def of(name: str) -> Case:
        if name not in made:
            folder = tmp_path_factory.mktemp("report")
            diagnosis, shown = drawn(evidence_of(name, folder))
            made[name] = diagnosis, shown, write_page(diagnosis, shown, folder / "report.html")
        return made[name]

    return of
