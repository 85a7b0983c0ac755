"""No recorded call waits, and every rank sits in a transfer, by its stack: gloo records no sends and receives.

Whoever sits in a receive has not been sent to. If all do, they wait in a circle: some send was left out, or all
receive before they send. Which peer each of them waits for, a stack does not show: nobody is blamed.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative, Missing
from rankandfile.reason.facts import Facts
from rankandfile.reason.host import Stand
from rankandfile.reason.patience import latest_ns, much_longer
from rankandfile.reason.unseen import named_after_a_transfer
from rankandfile.reason.words import ranks_words, upper, verb

from .finding import Finding


def settle(facts: Facts) -> Finding | None:
    world = facts.case.world_size or 0
    stands = {rank: stand for rank, stand in facts.hosts.items() if _in_a_transfer(stand)}
    last = facts.working.calls["created_ns"].max()
    if world < 2 or not facts.hidden or stands.keys() != set(range(world)) or not isinstance(last, int):
        return None
    if not much_longer(facts, latest_ns(facts) - last):
        return None
    sites = {(stand.location.file, stand.location.line) for stand in stands.values()}
    misfits = {rank: error for rank, error in facts.testimony.misfits.items() if rank in stands}
    alike = len(sites) == 1 and not misfits
    where = "; ".join(f"{ranks_words(ranks)} {stands[ranks[0]].phrase}" for ranks in _together(stands))
    sentence = f"Every rank sits in a transfer, and none has been sent what it waits for: {where}."
    if misfits:
        those = sorted(misfits)
        sentence += (
            f" {upper(ranks_words(those))} {verb(those, 'was', 'were')} sent a message of another size than "
            f"{verb(those, 'it expects', 'they expect')}: the peer left out what it waits for, or sent one too many."
        )
    elif alike:
        sentence += " All of them wait at the same line: each may receive before it sends."
    other = "skipped_collective" if alike else "order_inversion"
    return Finding(
        cause="order_inversion" if alike else "skipped_collective",
        confidence="supported" if misfits else "hypothesis",
        sentence=sentence,
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
            Alternative(
                cause=other,
                confidence="hypothesis",
                sentence="A send may have been left out."
                if alike
                else "Both sides of a transfer may receive before they send.",
                decided_by="the source at these lines: who sends to whom, and when",
            ),
        ),
        missing=(Missing(what="the peer that each rank waits for", how="py-spy dump --locals --pid PID"),),
        explains=world,
    )


def _in_a_transfer(stand: Stand) -> bool:
    if stand.died or stand.running or stand.moving:
        return False
    return stand.activity == "p2p" or (stand.activity == "user_code" and named_after_a_transfer(stand))


def _together(stands: dict[int, Stand]) -> list[list[int]]:
    by_phrase: dict[str, list[int]] = {}
    for rank, stand in sorted(stands.items()):
        by_phrase.setdefault(stand.phrase, []).append(rank)
    return sorted(by_phrase.values(), key=len)
