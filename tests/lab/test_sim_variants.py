"""Variants of simulated incidents, whose dumps lie in a folder for each host, or have an old format."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.lab import truth, variants
from rankandfile.lab.sim.run import simulate

pytestmark = pytest.mark.slow

PER_HOST = "blocked-renamed-no-frames"
SCENARIOS = (PER_HOST, "healthy-2.3")


@pytest.fixture(scope="module")
def incidents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("incidents")
    for name in SCENARIOS:
        simulate(name, folder / name)
    return folder


def dump_files(incident: Path) -> set[Path]:
    dumps = incident / "evidence" / "dumps"
    return {path.relative_to(dumps) for path in dumps.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("variant", sorted(variants.VARIANTS))
def test_every_variant_can_be_made(incidents: Path, tmp_path: Path, name: str, variant: str) -> None:
    made = variants.make(incidents / name, variant, tmp_path / variant)
    assert truth.read(made).removed == [variant]


def test_a_victims_dump_is_taken_from_its_hosts_folder(incidents: Path, tmp_path: Path) -> None:
    made = variants.make(incidents / PER_HOST, "lost_dump_of_victim", tmp_path / "lost")
    assert len(dump_files(incidents / PER_HOST) - dump_files(made)) == 1
