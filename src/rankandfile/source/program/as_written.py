"""Numbers that keep how they are written: `1e-9` is shown as `1e-9`, and not as the `1e-09` that Python prints."""

from __future__ import annotations

import ast
import re

from .walking import walk

#: Only a text that has such a number has one that Python would print otherwise.
_OTHERWISE = re.compile(r"\d_\d|\d[eE]|\b0[xXoObB]|\d\.(?!\d)|(?<![\w.])\.\d|\d\.\d*0(?!\d)|\.\d{5}|\d{16}")


class _Float(float):
    text: str

    def __repr__(self) -> str:
        return self.text


class _Int(int):
    text: str

    def __repr__(self) -> str:
        return self.text


def keep_numbers(tree: ast.Module, text: str) -> None:
    """Each number of the tree prints itself as the text has it."""
    if not _OTHERWISE.search(text):
        return
    lines = text.split("\n")
    for node in walk(tree):
        if not isinstance(node, ast.Constant) or node.lineno > len(lines):
            continue
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        written = (
            lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode(errors="replace")
        )
        if written != repr(value) and _is_it(written, value):
            made = _Float(value) if isinstance(value, float) else _Int(value)
            made.text = written
            node.value = made


def _is_it(text: str, value: float) -> bool:
    """Lines may be counted otherwise than `split` does; a number that is found is the one meant."""
    try:
        return bool(ast.literal_eval(text) == value)
    except (ValueError, SyntaxError):
        return False
