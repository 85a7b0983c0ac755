from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.runtime.gloo_ranks import Ranks


@pytest.fixture(scope="session")
def ranks() -> Iterator[Ranks]:
    pytest.importorskip("torch")
    server = Ranks()
    yield server
    server.stop()
