"""The catalogue of log shapes as a whole."""

from __future__ import annotations

import pytest
from support.evidence.log_examples import EXAMPLES, MACHINE

from rankandfile.evidence.text.logs.shape import Shape
from rankandfile.evidence.text.logs.shapes import SHAPES


def test_every_shape_has_an_example() -> None:
    missing = {shape.id for shape in SHAPES} - {example.id for example in EXAMPLES + MACHINE}
    assert missing == {"P4", "R1", "R2", "R3"}, "those have tests of their own, all others an example"


def test_an_id_of_no_family_is_refused() -> None:
    """It would say nothing of whose line that is."""
    with pytest.raises(ValueError, match="is no family"):
        Shape("process_ended", "Q1", "fact", "a literal", r"a literal")


def test_a_literal_that_a_search_could_miss_is_refused() -> None:
    with pytest.raises(ValueError, match="'exited' is shorter than 7 characters"):
        Shape("process_ended", "P7", "fact", ("a literal", "exited"), r"a literal")


def test_a_pattern_that_is_none_names_its_shape() -> None:
    shape = Shape("process_ended", "P7", "fact", "a literal", r"(a literal")
    with pytest.raises(ValueError, match=r"shape P7 \(process_ended\): its pattern is none: missing \)"):
        assert shape.regex
