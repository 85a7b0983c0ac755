"""The catalogue of log shapes as a whole."""

from __future__ import annotations

from support.evidence.log_examples import EXAMPLES, MACHINE

from rankandfile.evidence.text.logs.shapes import SHAPES


def test_every_shape_has_an_example() -> None:
    missing = {shape.id for shape in SHAPES} - {example.id for example in EXAMPLES + MACHINE}
    assert missing == {"P4", "R1", "R2", "R3"}, "those have tests of their own, all others an example"
