"""Groups and paths by their ids, as a job's reports have told them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from rankandfile.model.digest import Frame, Group
from rankandfile.tower.store.rows import Word


@dataclass(frozen=True, kw_only=True)
class Words:
    groups: dict[str, Group] = field(default_factory=dict)
    paths: dict[int, list[Frame]] = field(default_factory=dict)

    def group(self, group_id: str) -> Group:
        """One that was not told yet has its id for a name."""
        return self.groups.get(group_id) or Group(id=group_id, name=group_id, size=0)

    def path(self, path_id: int) -> list[Frame]:
        return self.paths.get(path_id, [])


def words(rows: Iterable[Word]) -> Words:
    found = Words()
    for row in rows:
        if row.kind == "group":
            found.groups[row.id] = msgspec.json.decode(row.body, type=Group)
        else:
            found.paths[int(row.id)] = msgspec.json.decode(row.body, type=list[Frame])
    return found
