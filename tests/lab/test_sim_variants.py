"""Variants of incidents whose dumps lie in a folder for each host, as clusters collect them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rankandfile.lab import truth, variants
from rankandfile.lab.sim.run import simulate


@pytest.fixture(scope="module")
def per_host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("incidents") / "incident"
    simulate("blocked-renamed-no-frames", folder)
    return folder


def dump_files(incident: Path) -> set[Path]:
    dumps = incident / "evidence" / "dumps"
    return {path.relative_to(dumps) for path in dumps.rglob("*") if path.is_file()}


@pytest.mark.parametrize("variant", sorted(variants.VARIANTS))
def test_every_variant_can_be_made(per_host: Path, tmp_path: Path, variant: str) -> None:
    made = variants.make(per_host, variant, tmp_path / variant)
    assert truth.read(made).removed == [variant]


def test_a_victims_dump_is_taken_from_its_hosts_folder(per_host: Path, tmp_path: Path) -> None:
    made = variants.make(per_host, "lost_dump_of_victim", tmp_path / "lost")
    assert len(dump_files(per_host) - dump_files(made)) == 1
