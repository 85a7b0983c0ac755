"""The source tree of a simulated job: a correct program, but for the bug that its own fault needs."""

from __future__ import annotations

import ast

import pytest

from rankandfile.lab.sim import catalog
from rankandfile.lab.sim.sites import SITES, frames_of
from rankandfile.lab.sim.sources import BUGS, RUN_FROM, place_of_fault, places, texts

HEALTHY = texts()
PLACES = {
    name: tuple(fault.place for fault in scenario.faults) for name, scenario in catalog.scenarios().items()
}

#: Called by a module, by autograd, by a hook.
_THROUGH_TORCH = {"forward", "backward", "unshard", "post_backward"}


def changed(faults: tuple[str, ...]) -> dict[tuple[str, int], str]:
    """The lines that differ from the healthy tree, which has as many."""
    found = {}
    for file, text in texts(faults).items():
        before, after = HEALTHY[file].split("\n"), text.split("\n")
        assert len(before) == len(after)
        pairs = enumerate(zip(before, after, strict=True), 1)
        found.update({(file, line): new.strip() for line, (old, new) in pairs if old != new})
    return found


@pytest.mark.parametrize("name", PLACES)
def test_the_tree_differs_from_the_healthy_one_in_the_lines_of_its_own_fault(name: str) -> None:
    wanted = {
        places()[marker][:2]: line for place in PLACES[name] for marker, line in BUGS.get(place, {}).items()
    }
    assert changed(PLACES[name]) == wanted


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_keeps_the_functions_where_they_are(bug: str) -> None:
    def functions(trees: dict[str, str]) -> list[tuple[str, str, int, int | None]]:
        return [
            (file, node.name, node.lineno, node.end_lineno)
            for file, text in trees.items()
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef)
        ]

    assert functions(texts((bug,))) == functions(HEALTHY)
    assert bug in {place for faults in PLACES.values() for place in faults}, "no scenario has it"
    place = place_of_fault(bug)
    assert texts((bug,))[place.file].split("\n")[place.line - 1].strip() == place.text


@pytest.mark.parametrize("site", SITES)
def test_every_frame_stands_on_a_line_that_makes_its_call(site: str) -> None:
    """Going inwards, each line names the function that the next frame is in."""
    way = [f for f in reversed(frames_of(site)) if f.filename.startswith(RUN_FROM)]
    lines = [HEALTHY[f.filename.removeprefix(f"{RUN_FROM}/")].split("\n")[f.line - 1].strip() for f in way]
    assert all(lines)
    for line, called in zip(lines, way[1:], strict=False):
        assert (
            called.name in line
            or called.name in _THROUGH_TORCH
            or ".apply(" in line
            or line.startswith("for ")
        )
