"""Each of a module's `SETS`, unpacked, and what is answered of it in each form of evidence."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.lab.opened_answers import Compared, compared
from support.opened_sets import name_of, unpacked

from rankandfile.lab.blind.forms import FORMS


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "revealed" in metafunc.fixturenames:
        metafunc.parametrize("revealed", metafunc.module.SETS, ids=name_of, indirect=True, scope="module")


@pytest.fixture(scope="module")
def revealed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked(request.param, tmp_path_factory.mktemp("revealed"))


@pytest.fixture(scope="module", params=FORMS, ids=lambda form: form.name.replace(" ", "-"))
def marks(request: pytest.FixtureRequest, revealed: Path) -> Compared:
    return compared(revealed, request.param)
