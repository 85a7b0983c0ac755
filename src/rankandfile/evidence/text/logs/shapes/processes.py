"""Lines that say both the number of a process and its rank: a launcher's table, a program's own line, a person's note."""

from __future__ import annotations

from rankandfile.evidence.text.logs.shape import Shape

ORDER = 160

_NEEDLES = ("world_rank=", "global_rank=", "world_rank:", "global_rank:", " is rank ", "-> rank ", "=> rank ")

SHAPES = (
    Shape(
        "process_of_rank", "P9", "fact", _NEEDLES,
        r"\b(?:ip=(?P<host>[\w.-]+), )?(?:pid|PID|[Pp]rocess)[ =:]{0,3}(?P<pid>\d+)\b.{0,30}?(?<![a-z]_)(?:(?:world|global)_)?rank[ =:]{1,3}(?P<rank>\d+)\b",
    ),
    Shape(
        "process_of_rank", "P9", "fact", _NEEDLES,
        r"(?<![a-z]_)(?:(?:world|global)_)?rank[ =:]{1,3}(?P<rank>\d+)\b.{0,60}?\b(?:pid|PID)[ =:]{0,3}(?P<pid>\d+)\b",
    ),
)  # fmt: skip
