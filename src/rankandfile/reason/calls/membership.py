"""Who belongs to a group, where the evidence does not say.

gloo records no member lists. Who used a group's name belongs to it, but a member that never got there is then
missing from the list: exactly the one that matters. Groups of a mesh come in families that share out all ranks;
if one group of a family is short of members and the ranks left over fill it, they are its members.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from msgspec import Struct

from rankandfile.model.case import Case
from rankandfile.model.code_read import NO_CODE, CodeRead

from .mesh_members import mesh_members


class Membership(Struct, frozen=True):
    members: dict[int, list[int]]
    completed: dict[int, tuple[int, ...]]
    """Groups whose members follow from the source, a mesh or their family, and the ranks that this put in."""
    unsure: frozenset[int]
    """Groups whose list may lack members."""
    families: dict[int, int]
    """Group -> family, named by its first group."""


def membership(case: Case, users: dict[int, set[int]], code: CodeRead = NO_CODE) -> Membership:
    """The members of every group of the case; `users`: the ranks that were seen to use each."""
    members: dict[int, list[int]] = {}
    inferred: set[int] = set()
    descs: dict[int, str] = {}
    for row in case.groups.iter_rows(named=True):
        group = row["group"]
        known = row["members"]
        if known is None or row["members_from"] == "inferred":
            inferred.add(group)
        members[group] = sorted(set(known or ()) | users.get(group, set()))
        descs[group] = row["desc"] or ""
    names = {row["group"]: row["name"] or "" for row in case.groups.iter_rows(named=True)}
    by_code = {
        group: ranks
        for group in (inferred if case.world_size is not None else ())
        if (ranks := code.members_of(descs[group], members[group]))
    }
    laid_out = by_code | _by_mesh(names, descs, members, inferred - by_code.keys(), case.world_size)
    for group, ranks in laid_out.items():
        members[group] = sorted({*members[group], *ranks})
    completed = _complete(members, inferred, descs, case.world_size)
    for group, ranks in completed.items():
        members[group] = sorted({*members[group], *ranks})
    completed |= laid_out
    return Membership(members, completed, frozenset(inferred - laid_out.keys()), _families(members, descs))


def _by_mesh(
    names: dict[int, str],
    descs: dict[int, str],
    members: dict[int, list[int]],
    inferred: set[int],
    world: int | None,
) -> dict[int, tuple[int, ...]]:
    """Groups of a mesh whose lists are made up from use, with the members that the mesh's numbering gives them."""
    if world is None or not inferred:
        return {}
    meshed = {group: desc for group, desc in descs.items() if group in inferred}
    laid_out = mesh_members(names, meshed, {g: set(r) for g, r in members.items()}, world)
    return {group: tuple(ranks) for group, ranks in laid_out.items()}


def has_a_name(desc: str | None) -> bool:
    """Whether it is what the program calls a group, and not what is there where it calls it nothing."""
    return desc not in (None, "", "undefined")


def _complete(
    members: dict[int, list[int]], inferred: set[int], descs: dict[int, str], world: int | None
) -> dict[int, tuple[int, ...]]:
    if world is None:
        return {}
    by_desc: dict[str, list[int]] = defaultdict(list)
    for group in inferred:
        if has_a_name(descs[group]):
            by_desc[descs[group]].append(group)
    out: dict[int, tuple[int, ...]] = {}
    for family in by_desc.values():
        if len(family) < 2:
            continue
        size = Counter(len(members[g]) for g in family).most_common(1)[0][0]
        size = max(size, max(len(members[g]) for g in family))
        covered = {rank for g in family for rank in members[g]}
        left = sorted(set(range(world)) - covered)
        short = [g for g in family if len(members[g]) < size]
        disjoint = sum(len(members[g]) for g in family) == len(covered)
        # Only the unambiguous case: one group is short, and the ranks left over are exactly as many as it lacks.
        if disjoint and len(short) == 1 and len(left) == size - len(members[short[0]]):
            out[short[0]] = tuple(left)
    return out


def _families(members: dict[int, list[int]], descs: dict[int, str]) -> dict[int, int]:
    """Groups of one description and size that share no rank are one family: all the tensor-parallel groups."""
    out: dict[int, int] = {}
    first: dict[tuple[str, int], list[tuple[int, set[int]]]] = defaultdict(list)
    for group in sorted(members):
        ranks = members[group]
        if not has_a_name(descs[group]) or not ranks:
            out[group] = group
            continue
        for head, covered in first[(descs[group], len(ranks))]:
            if covered.isdisjoint(ranks):
                covered.update(ranks)
                out[group] = head
                break
        else:
            first[(descs[group], len(ranks))].append((group, set(ranks)))
            out[group] = group
    return out
