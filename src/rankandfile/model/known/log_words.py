"""What lines of a program's own say, where reasoning and source look for the same ones."""

from __future__ import annotations

import re

#: Where it takes up its work: `resumed from step 120`, `going on from r2-0008.json`, `restored snapshot 7`.
TOOK_UP = re.compile(
    r"(?i)\b(?:resum\w*|restor\w*|restart\w*|(?:go(?:es|ing)?|went|carr(?:y|ies|ying)) on (?:from|at|with)|continu\w*"
    r"|pick\w* up|start\w* (?:again |over )?(?:from|at)|state \w+ \w+ from"
    r"|(?:load|read|recover)\w* .{0,40}(?:checkpoint|ckpt|snapshot|step|iter|epoch|state))"
)
