"""Which names of a program may hold a wrapped module, so that calling them is a collective."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from rankandfile.source.dependence.index import Index
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import own_nodes
from rankandfile.source.registry.tables import TABLE


def may_be_wrapped(index: Index) -> frozenset[str]:
    """Names that may hold a wrapped module, by what they are assigned and handed: whatever else is so called, too."""
    makers = {name.rpartition(".")[2] for name, wrapper in TABLE.wraps.items() if wrapper}
    makers |= {other for name in makers for other in index.renamed.get(name, ())}
    flows: dict[str, set[str]] = {}
    found: set[str] = set()
    functions: dict[str, list[Function]] = {}
    for module in index.modules:
        for function in module.functions:
            functions.setdefault(function.name, []).append(function)
            for node in own_nodes(function):
                if isinstance(node, ast.Assign):
                    targets = [last_name(part) for target in node.targets for part in _parts(target)]
                    for part in _parts(node.value):
                        name = last_name(part.func) if isinstance(part, ast.Call) else last_name(part)
                        flows.setdefault(name, set()).update(targets)
                        found.update(targets if name in makers else ())
                for target, held in _gone_through(node):
                    for name in held:
                        flows.setdefault(name, set()).update(target)
    for name in ("fully_shard", "parallelize_module"):
        for site in index.calls(name):
            found.update(last_name(a) for a in site.call.args[:1])
            # What a loop hands over one by one is known by the name of what it goes through.
            loops = (each for node in own_nodes(site.function) for each in _gone_through(node))
            found.update(name for target, held in loops if target & found for name in held)
    queue = list(found)
    given = _given_names(index, functions)
    while queue:
        name = queue.pop()
        new = (flows.get(name, set()) | given.get(name, set())) - found
        found |= new
        queue.extend(new)
    return frozenset(found - {""})


def _given_names(index: Index, functions: dict[str, list[Function]]) -> dict[str, set[str]]:
    """Name of an argument -> the parameters that it is handed to, by the names of functions."""
    found: dict[str, set[str]] = {}
    for name, targets in functions.items():
        for site in index.calls(name)[:200]:
            for target in targets[:4]:
                parameters = target.parameters
                shift = 1 if parameters[:1] in (["self"], ["cls"]) else 0
                for number, given in enumerate(site.call.args):
                    if last_name(given) and number + shift < len(parameters):
                        found.setdefault(last_name(given), set()).add(parameters[number + shift])
    return found


def _gone_through(node: ast.AST) -> Iterator[tuple[set[str], set[str]]]:
    """The names that a loop gives, and those of what it goes through."""
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        given = {last_name(part) for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        held = {
            last_name(part) for part in ast.walk(node.iter) if isinstance(part, (ast.Name, ast.Attribute))
        }
        yield given, held


def _parts(e: ast.expr) -> list[ast.expr]:
    return list(e.elts) if isinstance(e, (ast.Tuple, ast.List)) else [e]


def last_name(e: ast.expr) -> str:
    return e.attr if isinstance(e, ast.Attribute) else e.id if isinstance(e, ast.Name) else ""
