"""Its host never came to the call: it stands in a lock, the data loader, a file, or its own code.

That a stack stands still is no proof: a process that spends its time on one line of a loop is seen there whenever
someone looks. And where there is no stack, that its process is alive and silent says no more than that it is held up.
"""

from __future__ import annotations

from rankandfile.model.diagnosis import Alternative
from rankandfile.reason.facts import Facts
from rankandfile.reason.ranks.did_instead import Story, Subject
from rankandfile.reason.ranks.host import Stand

CAUSE = "host_blocked"


def tell(facts: Facts, subject: Subject) -> Story | None:
    stand = facts.hosts.get(subject.rank)
    if stand is None:
        return _held_up(facts, subject) if subject.proved else None
    if not _on_its_own(facts, subject, stand):
        return None
    doing, evidence = stand.words, stand.evidence
    why = facts.accounts.raised.get(subject.rank) or facts.accounts.stopped.get(subject.rank)
    if why is not None and why.thread is not None:
        doing, evidence = (
            f"{doing}; its thread {why.thread} had died of {why.words}",
            (*evidence, *why.evidence),
        )
    elif why is not None:
        doing, evidence = f"{doing}; before that: {why.words}", (*evidence, *why.evidence)
    return Story(
        cause=CAUSE,
        confidence="supported",
        doing=doing,
        evidence=evidence,
        location=stand.location,
        alternatives=(_slow(subject.rank, "another look at its stack: does it move?"),),
    )


def _on_its_own(facts: Facts, subject: Subject, stand: Stand) -> bool:
    """Whether it provably waits for no other rank there."""
    if stand.died:
        return False
    if stand.waits == "no":
        return True
    if stand.activity != "user_code":
        return False
    # A call into C leaves no frame, and may be a wait for others; unless it runs, or the calls say that it is none.
    computes = bool(stand.running) and subject.rank not in facts.accounts.gave_up
    return computes or (subject.proved and subject.rank not in facts.hidden)


def _held_up(facts: Facts, subject: Subject) -> Story | None:
    """By elimination: alive, no exception of its own, no fault of its device, and not in the call."""
    accounts, rank = facts.accounts, subject.rank
    answered = [r.evidence for r in accounts.of_rank.get(rank, ()) if r.seq is None]
    if rank in facts.hidden or not (accounts.alive(rank) or answered):
        return None
    if any(rank in told for told in (accounts.raised, accounts.echoes, accounts.device)):
        return None
    end = accounts.ends.get(rank)
    why = accounts.stopped.get(rank)
    doing = "alive and in no call: held up on its host, and only its stack would tell where"
    if why is not None:
        doing = f"held up on the host: {why.words}"
    evidence = (*(why.evidence if why else ()), *answered[:1], *(end.evidence if end else ()))
    return Story(
        cause=CAUSE,
        confidence="supported" if rank in accounts.logged else "hypothesis",
        doing=doing,
        evidence=evidence,
        alternatives=(
            _slow(rank, "its stack, twice"),
            Alternative(
                cause="raised",
                confidence="hypothesis",
                sentence="It may have raised an exception that no log has, and be stuck on its way out.",
                culprits=str(rank),
                decided_by="its stack",
            ),
        ),
        absence=True,
    )


def _slow(rank: int, decided_by: str) -> Alternative:
    return Alternative(
        cause="host_slow",
        confidence="hypothesis",
        sentence="It may be on its way, and only late.",
        culprits=str(rank),
        decided_by=decided_by,
    )
