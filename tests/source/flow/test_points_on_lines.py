"""Which call on a line a stack stands in, where the call has another name than the function that runs."""

from __future__ import annotations

import pytest
from support.source.toy_runs import tree

from rankandfile.source.flow import Point, deciding
from rankandfile.source.program.modules import Program

TOWER = """
class Engine:
    def forward(self, batch):
        prefix = self.vision(batch.images) if batch.images is not None else None
        return self.decoder(batch.tokens, prefix)
"""


@pytest.mark.parametrize("name", ["forward", "__call__"])
def test_an_object_that_is_called_stands_on_its_line(name: str) -> None:
    """The frames of torch's modules are left out: what runs where one is called is its `forward`."""
    module = Program(tree({"p.py": TOWER})).module("p.py")
    assert module is not None
    function = next(f for f in module.functions if f.name == "forward")
    (found,) = deciding(function, Point(5, name), Point(4, name))
    assert (found.kind, found.line) == ("ifexp", 4)
    assert not deciding(function, Point(5, name), Point(4, "unheard_of")), (
        "a call of another name is not there"
    )
