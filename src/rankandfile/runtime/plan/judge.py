"""Who left the plan: members' calls of one number of one group, compared. Pure functions."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rankandfile.runtime.guards.membership import spelled
from rankandfile.runtime.plan.memory import Novelty


@dataclass(frozen=True)
class Post:
    """What one rank is about to do, or did, at a number of a group."""

    rank: int
    words: str
    contract: int
    way: int
    novelty: str
    mixed: bool = False
    """This way was taken before while others took another one, and it was legal."""
    group: str = ""
    at: float = 0.0
    """When it came there, in seconds since 1970."""
    sends: int = -1
    receives: int = -1
    """Bytes of a message; -1 where it is none."""
    frames: Sequence[str] = ()
    """Of its way, the innermost first."""
    shadows: bool = False
    """It stands for the others' call, whatever that is."""


@dataclass(frozen=True)
class Ruling:
    odd: tuple[int, ...]
    """Empty where nothing tells who is right."""
    message: str
    values: dict[int, str]


#: Whether a way of the program, by its frames, is the same as that of whoever asks, or the other arm of one decision.
Alternative = Callable[[Sequence[str]], bool]


def together(posts: Mapping[int, Post], alternative: Alternative) -> bool:
    """Whether members went one way, or through one decision; else, where `compare` objects to nothing, several legal
    ones."""
    ways = {post.way: post.frames for post in posts.values() if not post.shadows}
    return len(ways) < 2 or all(map(alternative, ways.values()))


def compare(posts: Mapping[int, Post], place: str, alternative: Alternative) -> Ruling | None:
    """None where the calls belong together. Ways may differ as long as they always did: some programs write one call
    of a group on several lines."""
    everyone = list(posts.values())
    sent = max(post.sends for post in everyone)
    taken = max(post.receives for post in everyone)
    if sent >= 0 and taken >= 0:
        return None if sent <= taken else ruling(posts, f"{place}: {sent} bytes are sent, and {taken} taken")
    if len({post.contract for post in everyone}) == 1:
        new = all(post.novelty == Novelty.NEW.value for post in everyone)
        if new or any(post.mixed for post in everyone) or together(posts, alternative):
            return None
    return ruling(posts, f"{place}: the ranks are not about to make the same call")


def ruling(posts: Mapping[int, Post], head: str, failed: tuple[int, ...] = ()) -> Ruling:
    """`failed`: who is at fault, where that is known already."""
    cohorts: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for rank, post in sorted(posts.items()):
        cohorts[(post.group, post.contract, post.way)].append(rank)
    groups = sorted(cohorts.values(), key=len)
    odd = failed or _odd(posts, groups)
    several = len({post.group for post in posts.values()}) > 1
    lines = [
        f"  {_ranks(ranks)}: {f'on {one.group}, ' * several}{one.words}"
        for ranks in groups
        for one in [posts[ranks[0]]]
    ]
    return Ruling(
        odd, "\n".join([head, *lines, _conclusion(posts, odd)]), {r: p.words for r, p in posts.items()}
    )


def _odd(posts: Mapping[int, Post], groups: list[list[int]]) -> tuple[int, ...]:
    """Those beside the largest cohort; of two equal ones, the one that does what it never did, where the other does
    what it has done for long. A young past proves nothing: who is new in it may be the one who is right."""
    if len(groups[-1]) * 2 > len(posts):
        return tuple(sorted(rank for ranks in groups[:-1] for rank in ranks))
    new = tuple(sorted(rank for rank, post in posts.items() if post.novelty == Novelty.NEW.value))
    settled = all(posts[rank].novelty == Novelty.SETTLED.value for rank in posts.keys() - set(new))
    return new if 0 < len(new) < len(posts) and settled else ()


def _conclusion(posts: Mapping[int, Post], odd: tuple[int, ...]) -> str:
    if not odd:
        last = max((post.at for post in posts.values()), default=0.0)
        return (
            f"They went different ways at {_clock(last)}; nothing that the ranks did before tells who is right: "
            "compare the paths."
        )
    when = min(posts[rank].at for rank in odd)
    left = f"{_ranks(odd)} left the plan{f' at {_clock(when)}' if when else ''}"
    if all(posts[rank].novelty == Novelty.NEW.value for rank in odd):
        return f"{left}: {'they' if len(odd) > 1 else 'it'} never made this call after those before."
    return f"{left}: the others decided otherwise here."


def _clock(at: float) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}{at % 1:.3f}".replace("0.", ".", 1)


def _ranks(ranks: list[int] | tuple[int, ...]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {spelled(ranks)}"


@dataclass(frozen=True)
class Wait:
    """Whose calls a rank waits for, of those who have not made them."""

    ranks: frozenset[int]
    each: bool
    """For each of them; else for one of them at least."""


def circle(start: int, waits: Mapping[int, Wait]) -> tuple[int, ...]:
    """Ranks that wait for each other for ever, with `start` among them; empty if there are none."""
    stuck = set(waits)
    while free := {rank for rank in stuck if not _holds(waits[rank], stuck)}:
        stuck -= free
    reached = {rank: _reached(rank, waits, stuck) for rank in stuck}
    return tuple(sorted(rank for rank in reached.get(start, ()) if start in reached[rank]))


def _holds(wait: Wait, stuck: set[int]) -> bool:
    """It cannot end if all in `stuck` stay where they are."""
    return bool(wait.ranks & stuck) if wait.each else bool(wait.ranks) and wait.ranks <= stuck


def _reached(start: int, waits: Mapping[int, Wait], stuck: set[int]) -> set[int]:
    found: set[int] = set()
    queue = [start]
    while queue:
        new = (waits[queue.pop()].ranks & stuck) - found
        found |= new
        queue += new
    return found
