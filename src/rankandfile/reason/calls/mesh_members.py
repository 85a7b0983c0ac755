"""Members of the groups of a device mesh, from its numbering, where no member list was recorded.

A mesh over all ranks numbers its groups dimension by dimension, and within one by the coordinates of the other
dimensions; ranks are numbered with the last dimension running fastest. So the sizes of the dimensions tell every
member list. It is used only where every group turned up, the sizes multiply to the size of the job, and every rank
that used a group is where the mesh puts it. Of three dimensions, older versions of torch take the other two in another
order than newer ones: who used the groups tells in which; where it does not, only what is alike in both is known.
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
    orders = [_members(ordered, ranks, swapped) for swapped in (True, False)]
    able = [
        out
        for out in orders
        if all(users.get(group, set()) <= set(members) for group, members in out.items())
    ]
    if not able:
        return {}
    return {group: members for group, members in able[0].items() if members == able[-1][group]}


def _members(ordered: list[list[int]], ranks: np.ndarray, swapped: bool) -> dict[int, list[int]]:
    """With the group's own dimension and the last one swapped, or the own one put last and the others left in order."""
    out: dict[int, list[int]] = {}
    for axis, groups in enumerate(ordered):
        turned = ranks.swapaxes(-1, axis) if swapped else np.moveaxis(ranks, axis, -1)
        rows = turned.reshape(-1, ranks.shape[axis]).tolist()
        for group, row in zip(groups, rows, strict=True):
            out[group] = [int(rank) for rank in row]
    return out
