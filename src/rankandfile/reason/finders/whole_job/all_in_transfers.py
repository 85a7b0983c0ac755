"""No recorded call waits, and every rank sits in a transfer, by its stack: gloo records no sends and receives.

Whoever sits in a receive has not been sent to. If all do, they wait in a circle: some send was left out, or all
receive before they send. Which peer each of them waits for, a stack shows only with its variables. Without them
nobody is blamed; nor in a single circle, which a send that was left out explains as well. Where several circles that
share no rank stand on the same line, that line is what they have in common. Where some send, and whoever each
is with is busy with the next, all of that circle are suspected.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Missing
from rankandfile.reason.document import perhaps
from rankandfile.reason.facts import Facts
from rankandfile.reason.finder import finder
from rankandfile.reason.ranks.host import Stand
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.waits.from_stacks.all_receive import in_turn
from rankandfile.reason.waits.from_stacks.in_words import doing_words
from rankandfile.reason.waits.from_stacks.kinds import may_be_in_a_transfer
from rankandfile.reason.waits.graph import WaitEnd
from rankandfile.reason.waits.patience import latest_ns, much_longer
from rankandfile.reason.waits.unrecorded_waits import named_after_a_transfer
from rankandfile.reason.words import ranks_words, upper, verb


@finder(precedence=40, of="job")
def all_in_transfers(facts: Facts, _: WaitEnd) -> Finding | None:
    world = facts.case.world_size or 0
    stands = {rank: stand for rank, stand in facts.hosts.items() if _in_a_transfer(stand)}
    last = facts.call_table.calls["created_ns"].max()
    if world < 2 or not facts.hidden or stands.keys() != set(range(world)) or not isinstance(last, int):
        return None
    if not much_longer(facts, latest_ns(facts) - last):
        return None
    sites = {(stand.location.file, stand.location.line) for stand in stands.values()}
    misfits = {rank: error for rank, error in facts.accounts.misfits.items() if rank in stands}
    alike = len(sites) == 1 and not misfits
    where = "; ".join(f"{ranks_words(ranks)} {stands[ranks[0]].phrase}" for ranks in _together(stands))
    turns = {} if alike or misfits else in_turn(stands)
    unsent = "" if turns else ", and none has been sent what it waits for"
    sentence = f"Every rank sits in a transfer{unsent}: {where}."
    if misfits:
        those = sorted(misfits)
        sentence += (
            f" {upper(ranks_words(those))} {verb(those, 'was', 'were')} sent a message of another size than "
            f"{verb(those, 'it expects', 'they expect')}: the peer left out what it waits for, or sent one too many."
        )
    elif alike:
        sentence += " All of them wait at the same line: each may receive before it sends."
    circles = _circles(stands)
    if turns:
        sentence += f" {doing_words(turns)}: who waits in a circle does not come to what another waits for."
    else:
        sentence += _shown(stands, circles)
    proved = alike and len(circles) > 1 and sum(map(len, circles)) == world
    order = alike or bool(turns)
    other = "skipped_collective" if order else "order_inversion"
    return Finding(
        cause="order_inversion" if order else "skipped_collective",
        confidence="supported" if misfits or proved else "hypothesis",
        sentence=sentence,
        culprits=tuple(sorted(stands)) if proved else tuple(turns),
        doing=dict.fromkeys(sorted(stands), "receives before it sends") if proved else turns,
        location=stands[0].location if proved else None,
        evidence=tuple(
            dict.fromkeys(
                [
                    *(i for e in misfits.values() for i in e.evidence),
                    *(s.evidence[0] for s in stands.values()),
                ][:16]
            )
        ),
        contradicted_by="a stack outside of any send or receive",
        alternatives=(
            perhaps(
                other,
                "A send may have been left out."
                if order
                else "Both sides of a transfer may receive before they send.",
                decided_by="the source at these lines: who sends to whom, and when",
            ),
        ),
        missing=()
        if turns or all(stand.asked.awaited is not None for stand in stands.values())
        else (Missing(what="the peer that each rank waits for", how="py-spy dump --locals --pid PID"),),
    )


def _circles(stands: dict[int, Stand]) -> list[list[int]]:
    """Ranks of which each waits for a message of the next, and the last for one of the first."""
    awaited = {rank: stand.asked.awaited for rank, stand in stands.items()}
    found: list[list[int]] = []
    seen: set[int] = set()
    for start in awaited:
        path: list[int] = []
        rank: int | None = start
        while rank is not None and rank in awaited and rank not in seen:
            seen.add(rank)
            path.append(rank)
            rank = awaited[rank]
        if rank in path:
            found.append(path[path.index(rank) :])
    return found


def _shown(stands: dict[int, Stand], circles: list[list[int]]) -> str:
    """Who waits for whom, as far as stacks show it."""
    words = [
        " and ".join(f"rank {rank} for one of rank {stands[rank].asked.awaited}" for rank in circle[:4])
        for circle in circles[:3]
    ]
    if not words:
        return ""
    return f" By the arguments of their calls, {'; '.join(words)}: who waits in a circle has not sent."


def _in_a_transfer(stand: Stand) -> bool:
    if stand.died or stand.running or stand.moving:
        return False
    # What waits in C for a call to complete tells no collective by its frame: its place may be named after a transfer.
    may_be = stand.activity == "user_code" or may_be_in_a_transfer(stand)
    return may_be and named_after_a_transfer(stand)


def _together(stands: dict[int, Stand]) -> list[list[int]]:
    by_phrase: dict[str, list[int]] = {}
    for rank, stand in sorted(stands.items()):
        by_phrase.setdefault(stand.phrase, []).append(rank)
    return sorted(by_phrase.values(), key=len)
