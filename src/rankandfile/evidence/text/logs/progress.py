"""Lines at the end of a log that show work going on: counted steps, rates, requests that were answered.

What a waiting process repeats is none of them, however its numbers grow: a rate of nothing, a heartbeat, a wait.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from rankandfile.evidence.text.bare_line import BareLine
from rankandfile.evidence.text.logs.between_ranks.kept_lines import shape_of
from rankandfile.evidence.text.logs.event import Event, begin

_WORK = re.compile(
    r"(?i)(?<![a-z])(?:step|iter(?:ation)?|it|epoch|batch|update)s?['\"]?\s*[=:#/\[]?\s*\d|\b(?:throughput|(?:tokens?|tok|samples?|img|images|seqs?|req\w*|it)"
    r"/s(?:ec)?)\b|\b(?:POST|PUT) /\S+ HTTP/[\d.]+\" 2\d\d\b|\b\d{1,3}%\|"
)
_NOTHING = re.compile(
    r"(?i)(?:throughput[^,]{0,24}|\(token/s\)): 0(?:\.0+)?(?![\d.])|\b0(?:\.0+)? ?(?:tokens?|tok|samples?|img)/s"
    r"|\b(?:wait\w*\b(?!: \d+ reqs)|stuck|retry\w*|timed? ?out|timeout|still|heartbeat|alive|health|ping"
    r"|elapsed|hang\w*|fail\w*|error"
    r"|skip\w*|loading|resum\w*"
    r"|no (?:\w+ )?(?:steps?|progress|iterations?|batch\w*)|not (?:progressed|advanced|made))\b"
)
#: A server says so once, when all its workers have answered.
_CAME_UP = re.compile(r"\bApplication startup complete|\bserver is fired up and ready\b")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: So many lines of one shape, with other numbers each, are work; one or two may have been printed late.
_FEWEST = 3


def progress_in(tail: Sequence[BareLine], lines: int, after: int) -> list[Event]:
    """The last line of work behind line `after`, as an event; nothing where no work shows there."""
    first = lines - len(tail) + 1
    alike: dict[str, list[tuple[int, BareLine]]] = defaultdict(list)
    for number, bare in enumerate(tail, start=first):
        text = bare.body.strip()[:400]
        if number > after and (_WORK.search(text) or _CAME_UP.search(text)) and not _NOTHING.search(text):
            alike[shape_of(text)].append((number, bare))
    moving = [
        told for told in alike.values() if len({tuple(_NUMBER.findall(b.body)) for _, b in told}) >= _FEWEST
    ]
    moving += [told for told in alike.values() if _CAME_UP.search(told[-1][1].body)]
    if not moving:
        return []
    number, bare = max((told[-1] for told in moving), key=lambda one: one[0])
    event = begin("work_goes_on", "P9", "fact", bare, number, 0)
    event.fields["lines"] = sum(len(told) for told in moving)
    return [event]
