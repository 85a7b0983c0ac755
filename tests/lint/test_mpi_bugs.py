"""The ordering errors of the MPI Bugs Initiative as Python: every bad program is flagged, every correct one silent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.mpi_bugs import Program, programs

from rankandfile.source.files.tree import SourceTree
from rankandfile.source.lint.run import Options, said_of

OFTEN = {"barrier", "Ibcast", "object allreduce", "all_reduce", "broadcast"}
"""`make test` has the programs of these collectives, `make lab` those of all."""


class _File:
    name = "program"

    def __init__(self, text: str) -> None:
        self.text = text

    def names(self) -> Iterator[str]:
        yield "train.py"

    def read(self, name: str) -> bytes:
        return self.text.encode()


def is_flagged(program: Program) -> bool:
    tree = SourceTree([_File(program.text)])
    places = {"train.py": Path("train.py").absolute()}
    return bool(said_of(tree, places, frozenset(places), Options()).flagged)


FAMILIES: dict[tuple[str, str], list[Program]] = defaultdict(list)
for each in programs():
    FAMILIES[each.api, each.family].append(each)


@pytest.mark.parametrize(("api", "family"), FAMILIES)
def test_a_family(api: str, family: str) -> None:
    of = [each for each in FAMILIES[api, family] if OFTEN.issuperset(each.collectives)]
    assert of
    assert [each.name for each in of if is_flagged(each) == each.correct] == []


@pytest.mark.lab
@pytest.mark.parametrize(("api", "family"), FAMILIES)
def test_a_family_with_every_collective(api: str, family: str) -> None:
    assert [each.name for each in FAMILIES[api, family] if is_flagged(each) == each.correct] == []
