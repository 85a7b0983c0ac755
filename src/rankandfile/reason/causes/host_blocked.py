"""Its host never came to the call: it stands in a lock, the data loader, a file, or its own code.

That a stack stands still is no proof: a process that spends its time on one line of a loop is seen there whenever
someone looks. And where there is no stack, that its process is alive and silent says no more than that it is held up.
"""

from __future__ import annotations

from rankandfile.model.advice import FIRST_LOGGER
from rankandfile.model.causes import Cause
from rankandfile.model.diagnosis import Alternative, Confidence, Remedy
from rankandfile.model.heuristics import heuristic
from rankandfile.reason.finder import teller
from rankandfile.reason.toolbox import (
    AskedRank,
    Facts,
    Stand,
    Story,
    event_id,
    fields_of,
    named_after_a_transfer,
    perhaps,
    place_in,
    world_of,
)

CAUSE = Cause(
    word="host_blocked",
    family="host",
    place=10,
    meaning="A rank's Python stands still before the collective.",
    help="It waits on its own host for a lock, a queue, a file, a download or a process, and never comes to "
    "the call in which the others wait.",
    remedies=(
        Remedy(
            title="Give the wait a limit, and let its failure end the job",
            text="A lock, a queue, a pipe or a download that may wait for ever holds up every rank: a "
            "timeout with an error names the place at once.",
        ),
    ),
    anti_advice=("Do not raise the timeout: whoever is stuck stays stuck.", FIRST_LOGGER),
    did="got stuck before the call",
    title="A rank stands still before the call",
    page="""
## How it comes about

The rank never comes to the collective, because its Python waits for something else:

```python
with FileLock("/shared/cache.lock"):  # the owner died an hour ago
    batch = queue.get()  # no timeout: waits for ever
```

Stacks decide here: two looks some seconds apart show that it does not move. Without any stack the verdict can only say
that the rank did not come. `py-spy dump --pid PID` on that host is the one thing to fetch.
""",
    scenario="checkpoint_lock_held",
)

_LONGEST = 200


@teller(precedence=90)
def on_its_own_host(facts: Facts, asked: AskedRank) -> Story | None:
    stand = facts.hosts.get(asked.rank)
    if stand is None:
        return _held_up(facts, asked) if asked.proved else None
    in_vain = _at_the_store_alone(facts, asked, stand)
    if not in_vain and not _on_its_own(facts, asked, stand):
        return None
    doing, evidence = stand.words, stand.evidence
    if in_vain:
        doing = f"{doing}; all others wait, and nobody is left who could set what it asks for"
    why = facts.accounts.raised.get(asked.rank) or facts.accounts.stopped.get(asked.rank)
    if why is not None and why.thread is not None:
        doing, evidence = (
            f"{doing}; its thread {why.thread} had died of {why.words}",
            (*evidence, *why.evidence),
        )
    elif why is not None:
        doing, evidence = f"{doing}; before that: {why.words}", (*evidence, *why.evidence)
    return Story(
        cause=CAUSE.word,
        confidence="supported",
        doing=doing,
        evidence=evidence,
        location=stand.location,
        alternatives=(
            *((_key_not_set(),) if in_vain else ()),
            _slow(asked.rank, "another look at its stack: does it move?"),
        ),
    )


def _key_not_set() -> Alternative:
    return perhaps(
        "undetermined",
        "One of the others may have left out setting what it asks the store for.",
        decided_by="the source: who sets that key, and when",
    )


def _on_its_own(facts: Facts, asked: AskedRank, stand: Stand) -> bool:
    """Whether it provably waits for no other rank there."""
    if stand.died:
        return False
    if stand.waits == "no":
        return True
    if stand.activity != "user_code":
        return False
    # A call into C leaves no frame, and may be a wait for others; unless it runs, or the calls say that it is none.
    # They do not of a rank that may be in a send or a receive which no recorder keeps.
    computes = bool(stand.running) and asked.rank not in facts.accounts.gave_up
    return computes or (asked.proved and asked.rank not in facts.hidden)


def _at_the_store_alone(facts: Facts, asked: AskedRank, stand: Stand) -> bool:
    """Whether it waits for a key of the store, and each of the others in a call."""
    if not asked.proved or stand.activity != "init" or stand.op != "store" or stand.died or stand.moving:
        return False
    # A call may be pending on a device while its host goes on, and may set the key: only a stack tells.
    others = [one for rank, one in facts.hosts.items() if rank != asked.rank]
    return len(others) == world_of(facts) - 1 and all(
        one.waits == "ranks" and not one.moving for one in others
    )


def _held_up(facts: Facts, asked: AskedRank) -> Story | None:
    """By elimination: alive, no exception of its own, no fault of its device, and not in the call."""
    accounts, rank = facts.accounts, asked.rank
    answered = [r.evidence for r in accounts.of_rank.get(rank, ()) if r.seq is None]
    if rank in facts.hidden or not (accounts.alive(rank) or answered):
        return None
    if any(rank in told for told in (accounts.raised, accounts.echoes, accounts.device)):
        return None
    end = accounts.ends.get(rank)
    why = accounts.stopped.get(rank)
    doing = "alive, and not in that call"
    if end is not None and end.kind == "echo":
        doing = f"not in that call until it {end.happened}"
    doing += (
        ": held up on its host, or in a call that no watchdog sees (of gloo); only its stack would tell where"
    )
    if why is not None:
        doing = f"held up on the host: {why.words}"
    evidence = (*(why.evidence if why else ()), *answered[:1], *(end.evidence if end else ()))
    return Story(
        cause=CAUSE.word,
        confidence="supported" if rank in accounts.logged else "hypothesis",
        doing=doing,
        evidence=evidence,
        alternatives=(
            _slow(rank, "its stack, twice"),
            perhaps(
                "raised",
                "It may have raised an exception that no log has, and be stuck on its way out.",
                [rank],
                decided_by="its stack",
            ),
        ),
        absence=True,
    )


def _slow(rank: int, decided_by: str) -> Alternative:
    return perhaps("host_slow", "It may be on its way, and only late.", [rank], decided_by=decided_by)


@teller(precedence=95)
def its_kernel_says_so(facts: Facts, asked: AskedRank) -> Story | None:
    """The kernel of its host tells of processes that wait for a file system, and it gave up on no call."""
    stall = facts.accounts.host_stalls.get(asked.rank)
    if (
        stall is None
        or not asked.waiting
        or asked.rank in facts.accounts.gave_up
        or asked.rank in asked.waiting
    ):
        return None
    return Story(
        cause=CAUSE.word,
        confidence="supported",
        doing=stall.words,
        evidence=stall.evidence,
        alternatives=(_slow(asked.rank, "whether the file system answers again"),),
    )


@teller(precedence=97)
def tries_again_and_again(facts: Facts, asked: AskedRank) -> Story | None:
    """Its log ends with one thing that it tries over and over, of its own: room on a disk, a file, a service."""
    if (
        asked.rank in facts.accounts.gave_up
        or asked.rank in facts.hosts
        or (not asked.waiting and not asked.proved)
    ):
        return None
    for row in facts.case.tried_again:
        fields = fields_of(row)
        if asked.rank not in (row["rank"], fields.get("speaker")):
            continue
        text = " ".join(str(row["text"]).split())
        return Story(
            cause=CAUSE.word,
            confidence="supported",
            doing=f'tries again and again, {fields.get("times")} times up to the end of its log: "{text[:_LONGEST]}"',
            evidence=(event_id(row["log"], row["line"]),),
            location=place_in(text) or place_in(str(fields.get("said_at", ""))),
            alternatives=(_slow(asked.rank, "whether a later try succeeds"),),
        )
    return None


@teller(precedence=100)
@heuristic("alive and mute", "the only rank whose watchdog gave up on nothing is held on its host")
def silent_alone(facts: Facts, asked: AskedRank) -> Story | None:
    """Every other rank waits and says so; this one left no dump, is alive, and its watchdog gave up on nothing.

    Had it joined a call that does not end, its own watchdog would have reported as all others' did. So it is held up on
    its host, before any call. All of this is absence of evidence, and counts only where nobody else is silent.
    """
    accounts, rank = facts.accounts, asked.rank
    answered = [r.evidence for r in accounts.of_rank.get(rank, ()) if r.seq is None]
    if asked.proved or rank not in accounts.logged or not (accounts.alive(rank) or answered):
        return None
    if any(rank in told for told in (accounts.raised, accounts.echoes, accounts.gave_up)):
        return None
    size = world_of(facts)
    if size < 2 or len(accounts.gave_up) < size - 1:
        return None
    others = set(range(size)) - {rank}
    if not others <= accounts.gave_up:
        return None
    stand, end = facts.hosts.get(rank), accounts.ends.get(rank)
    confidence: Confidence = "supported"
    if stand is not None:
        if stand.activity != "user_code" or stand.died or named_after_a_transfer(stand):
            return None
        doing = stand.words
    elif answered:
        doing = "answered the dump signal, but wrote no dump, and its watchdog gave up on nothing: held up on the host"
    elif others <= facts.hosts.keys():
        doing = (
            "alive, but silent: no dump, no stack, no word from its watchdog, where all others left all three"
        )
        confidence = "hypothesis"
    else:
        return None
    return Story(
        cause=CAUSE.word,
        confidence=confidence,
        doing=doing,
        evidence=(*(stand.evidence if stand else ()), *answered[:1], *(end.evidence if end else ())),
        location=stand.location if stand else None,
        alternatives=(
            perhaps(
                "peer_unreachable",
                "Its host may be cut off, and what it wrote not have arrived.",
                [rank],
                decided_by="whether its host answers, and what its process does there",
            ),
        ),
        absence=True,
    )


@teller(precedence=30, joined=10)
def stopped_by_a_signal(facts: Facts, asked: AskedRank) -> Story | None:
    """A signal has stopped its process: in whatever call it is, it does nothing until another signal lets it go on.

    That is a fact of the kernel's, and not one of the program's: a call that needs this rank cannot end, joined or not.
    """
    held = facts.accounts.suspended.get(asked.rank)
    if held is None:
        return None
    stand = facts.hosts.get(asked.rank)
    where = f"; it stands {stand.phrase}" if stand is not None and not stand.died else ""
    return Story(
        cause=CAUSE.word,
        confidence="established" if asked.proved else "supported",
        doing=f"{held.words}{where}",
        evidence=(*held.evidence, *(stand.evidence if stand is not None else ())),
    )
