"""What a call is a call of, as the program writes it."""

from __future__ import annotations

import ast

import pytest

from rankandfile.source.program.called import called_name


@pytest.mark.parametrize(
    ("written", "name"), [("f(1)", "f"), ("a.b.c(1)", "c"), ("made()(1)", ""), ("table[0](1)", "")]
)
def test_the_last_part_of_its_name(written: str, name: str) -> None:
    call = ast.parse(written, mode="eval").body
    assert isinstance(call, ast.Call) and called_name(call) == name
