"""Where a rank stands in a device mesh that the program makes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.dependence.assignments import Definition
from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.reaching_assignments import reaching
from rankandfile.source.dependence.syntax import argument, constant
from rankandfile.source.program.modules import Function
from rankandfile.source.program.scopes import binding_scope

from . import library

if TYPE_CHECKING:
    from .values import OneRank

MESH = "torch.distributed.device_mesh.DeviceMesh"


def dimension(
    one: OneRank, mesh: ast.expr, named: ast.expr | None, frame: Frame
) -> tuple[tuple[int, ...], int] | None:
    """The rank's place in the mesh that the expression is, and which dimension is meant; -1: none was named."""
    mesh, frame = _written_out(one, mesh, frame)
    part = constant(mesh.slice) if isinstance(mesh, ast.Subscript) else None
    if isinstance(mesh, ast.Subscript):
        mesh = mesh.value
        if part is None:
            return None
    for instance in one.objects.of(mesh, frame):
        if instance.type != MESH or instance.made is None:
            return None
        shape = argument(instance.made, 1, "mesh_shape")
        dims = argument(instance.made, 2, "mesh_dim_names")
        values = one.value(shape, instance.frame) if shape is not None else None
        labels = one.value(dims, instance.frame) if dims is not None else None
        if values is None or len(values) != 1:
            return None
        place = library.coordinate(next(iter(values)), one.rank, one.job)
        wanted = part if part is not None else constant(named) if named is not None else None
        if place is None or (named is not None and part is None and wanted is None):
            return None
        if isinstance(wanted, str):
            known = next(iter(labels)) if labels is not None and len(labels) == 1 else None
            if not isinstance(known, tuple) or wanted not in known:
                return None
            return place, known.index(wanted)
        return place, wanted if isinstance(wanted, int) and 0 <= wanted < len(place) else -1
    return None


def _written_out(one: OneRank, mesh: ast.expr, frame: Frame) -> tuple[ast.expr, Frame]:
    """For a name or an attribute that is given one part of a mesh, `tp = mesh["tp"]`, that part."""
    given: list[tuple[Function, Definition]] = []
    if isinstance(mesh, ast.Name):
        scope = binding_scope(frame.function, mesh.id)
        given = [(scope, d) for d in reaching(scope).everywhere(mesh.id)] if scope is not None else []
    elif isinstance(mesh, ast.Attribute):
        classes = one.objects.classes(mesh.value, frame)
        given = [found for cls in classes for found in one.objects.stores(cls, mesh.attr)]
    if len(given) != 1:
        return mesh, frame
    ((function, d),) = given
    value = d.value if d.how == "assign" else None
    if isinstance(value, ast.Tuple) and len(d.path) == 1 and isinstance(d.path[0][1], int):
        value = value.elts[d.path[0][1]] if d.path[0][1] < len(value.elts) else None
    elif d.path:
        value = None
    if not isinstance(value, ast.Subscript):
        return mesh, frame
    return value, frame if function is frame.function else Frame(function, None, frame.depth + 1)


def line(one: OneRank, mesh: ast.expr, named: ast.expr | None, frame: Frame) -> tuple[int, ...] | None:
    """The ranks along one dimension of a mesh, this one among them, as the evidence has that group."""
    mesh, frame = _written_out(one, mesh, frame)
    part = constant(mesh.slice) if isinstance(mesh, ast.Subscript) else None
    base = mesh.value if isinstance(mesh, ast.Subscript) else mesh
    instances = list(one.objects.of(base, frame))
    if not instances or any(instance.type != MESH for instance in instances):
        return None
    if isinstance(mesh, ast.Subscript) and named is not None:
        return None
    return one.job.line(part if named is None else constant(named), one.rank)
