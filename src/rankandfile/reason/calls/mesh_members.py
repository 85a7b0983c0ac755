"""Members of the groups of a device mesh, from its numbering, where no member list was recorded.

A mesh over all ranks numbers its groups dimension by dimension, and within one by the coordinates of the other
dimensions; ranks are numbered with the last dimension running fastest. So the sizes of the dimensions tell every
member list. It is used only where every group turned up, the sizes multiply to the size of the job, and every rank
that used a group is where the mesh puts it.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod

import numpy as np


def mesh_members(
    names: dict[int, str], descs: dict[int, str], users: dict[int, set[int]], world: int
) -> dict[int, list[int]]:
    """Group -> members, for groups with a number for a name and a mesh dimension for a description."""
    dimensions: dict[str, list[int]] = defaultdict(list)
    for group, desc in descs.items():
        if desc.startswith("mesh_") and names[group].isdigit():
            dimensions[desc].append(group)
    ordered = sorted(
        (sorted(groups, key=lambda g: int(names[g])) for groups in dimensions.values()),
        key=lambda groups: int(names[groups[0]]),
    )
    sizes = [world // len(groups) for groups in ordered if world % len(groups) == 0]
    if len(sizes) != len(ordered) or len(sizes) < 2 or prod(sizes) != world:
        return {}
    ranks = np.arange(world).reshape(sizes)
    out: dict[int, list[int]] = {}
    for axis, groups in enumerate(ordered):
        rows = ranks.swapaxes(-1, axis).reshape(-1, sizes[axis])
        for group, row in zip(groups, rows.tolist(), strict=True):
            out[group] = [int(rank) for rank in row]
    if any(not users.get(group, set()) <= set(members) for group, members in out.items()):
        return {}
    return out
