"""YAML and JSON documents as trees of plain values with line numbers. No object is ever constructed from a tag."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

MOST_YAML = 1 << 19
"""Manifests are kilobytes; the reader of YAML is slow, and documents may be made to be slower."""
_DEEPEST = 64


class NoTree(Exception):
    """The file is not what it looks like; the text says why."""


class Node(Struct, eq=False):
    content: dict[str, Node] | list[Node] | str | None
    line: int | None

    def get(self, *keys: str) -> Node:
        """The node at the end of a path of keys; an empty one where the path leads nowhere."""
        node = self
        for key in keys:
            inside = node.content.get(key) if isinstance(node.content, dict) else None
            if inside is None:
                return Node(None, node.line)
            node = inside
        return node

    @property
    def items(self) -> list[Node]:
        return self.content if isinstance(self.content, list) else []

    @property
    def fields(self) -> dict[str, Node]:
        return self.content if isinstance(self.content, dict) else {}

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else ""


def documents(text: str) -> list[Node]:
    """Every document of the text; `NoTree` where it cannot be read."""
    try:
        return [_of_value(json.loads(text), 0)]
    except (ValueError, RecursionError):
        pass
    try:
        import yaml  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        raise NoTree("reading YAML needs PyYAML: pip install 'rankandfile[doctor]'") from error
    if len(text) > MOST_YAML:
        raise NoTree(f"longer than {MOST_YAML >> 10} KiB: no manifest is")
    try:
        return [_of_yaml(node, {}, 0) for node in _composed(yaml, text)]
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        where = getattr(error, "problem_mark", None)
        line = f" at line {where.line + 1}" if where is not None else ""
        hint = "; a template is read after it is rendered" if "{{" in text else ""
        raise NoTree(f"not YAML{line}{hint}") from error


def _composed(yaml: Any, text: str) -> Iterator[Any]:
    """Nodes only: the pure-Python reader, whose depth is bounded by an exception and not by the C stack."""
    return (node for node in yaml.compose_all(text, Loader=yaml.SafeLoader) if node is not None)


def _of_yaml(node: Any, seen: dict[int, Node], depth: int) -> Node:
    known = seen.get(id(node))
    if known is not None:
        return known
    made = seen[id(node)] = Node(None, node.start_mark.line + 1)
    if depth > _DEEPEST:
        return made
    if node.id == "mapping":
        made.content = {
            str(key.value): _of_yaml(value, seen, depth + 1)
            for key, value in node.value
            if key.id == "scalar"
        }
    elif node.id == "sequence":
        made.content = [_of_yaml(item, seen, depth + 1) for item in node.value]
    else:
        made.content = None if node.tag.endswith(":null") else str(node.value)
    return made


def _of_value(value: Any, depth: int) -> Node:
    if depth > _DEEPEST or value is None:
        return Node(None, None)
    if isinstance(value, dict):
        return Node({str(key): _of_value(inside, depth + 1) for key, inside in value.items()}, None)
    if isinstance(value, list):
        return Node([_of_value(inside, depth + 1) for inside in value], None)
    return Node(json.dumps(value) if isinstance(value, bool) else str(value), None)
