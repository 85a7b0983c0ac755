"""Where a rank stands in a device mesh that the program makes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from rankandfile.source.dependence.frame import Frame
from rankandfile.source.dependence.syntax import argument, constant

from . import library

if TYPE_CHECKING:
    from .values import OneRank

MESH = "torch.distributed.device_mesh.DeviceMesh"


def dimension(
    one: OneRank, mesh: ast.expr, named: ast.expr | None, frame: Frame
) -> tuple[tuple[int, ...], int] | None:
    """The rank's place in the mesh that the expression is, and which dimension is meant; -1: none was named."""
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


def line(one: OneRank, mesh: ast.expr, named: ast.expr | None, frame: Frame) -> tuple[int, ...] | None:
    """The ranks along one dimension of a mesh, this one among them, as the evidence has that group."""
    part = constant(mesh.slice) if isinstance(mesh, ast.Subscript) else None
    base = mesh.value if isinstance(mesh, ast.Subscript) else mesh
    instances = list(one.objects.of(base, frame))
    if not instances or any(instance.type != MESH for instance in instances):
        return None
    if isinstance(mesh, ast.Subscript) and named is not None:
        return None
    return one.job.line(part if named is None else constant(named), one.rank)
