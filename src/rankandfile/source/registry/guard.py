"""rankandfile.guard: what ranks decide together, and the meetings that this takes."""

from .entry import Sanitiser, Table

_G = "rankandfile.guard"

TABLE = Table(
    sanitisers={
        f"{_G}.agree": Sanitiser(returned=True),
        f"{_G}.same": Sanitiser(returned=True),
        f"{_G}.share": Sanitiser(returned=True),
    },
    collectives={
        f"{_G}.agree": "all ranks of the group agree here",
        f"{_G}.same": "all ranks of the group compare their values here",
        f"{_G}.share": "all ranks of the group get the value of one here",
    },
    aliases={"rankandfile.runtime.guards.decisions": _G},
)
