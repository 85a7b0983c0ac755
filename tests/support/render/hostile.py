"""A diagnosis whose every word comes from somebody who wants to be more than text."""

from __future__ import annotations

from rankandfile.model.diagnosis import (
    Alternative,
    Call,
    Cohort,
    Culprit,
    Diagnosis,
    Divergence,
    Excerpt,
    ExcerptLine,
    Job,
    Location,
    Missing,
    Probe,
    Remedy,
    Verdict,
    Wait,
)
from rankandfile.model.ledger import Evidence, Note

WORD = "Mallory"
NASTY = (
    f"{WORD} <script>alert(1)</script> <img src=x onerror=alert(1)> [link](javascript:alert(1)) "
    "![i](https://evil/x.png) {0} @octocat #12 GH-7 www.evil.test https://evil.test/ `code` ``` **bold** _it_ "
    "~~gone~~ | cell | %0A ]]> &lt; a\"b'c \\ \n# heading\n::error file=x::owned\n- item\n\r\n::add-mask::x "
    "\x1b[2J\x1b]0;title\x07 \x00 \u202eflipped \u2028 \ufffe \ud800 [red]markup[/red]"
)


def diagnosis() -> Diagnosis:
    call = Call(op=NASTY, seq=7, file=NASTY, line=3, function=NASTY, detail=NASTY, evidence=["D0#1"])
    lines = [ExcerptLine(number=1, text=NASTY, cohorts=[0], mark="condition")]
    verdict = Verdict(
        hang=True,
        cause="skipped_collective",
        family="paths",
        confidence="supported",
        sentence=NASTY,
        culprits=[Culprit(rank=3, host=NASTY, doing=NASTY)],
        victims="0-2",
        divergence=Divergence(
            group=NASTY,
            seq=7,
            kind="skipped",
            cohorts=[Cohort(ranks="0-2", call=call), Cohort(ranks="3", call=call)],
            place=NASTY,
        ),
        location=Location(
            file=NASTY, line=3, function=NASTY, condition=NASTY, condition_line=2, why_it_can_differ=NASTY
        ),
        waits=[Wait(ranks="0-2", waits_for="3", group=NASTY, seq=7, op=NASTY)],
        evidence=["D0#1"],
        alternatives=[
            Alternative(cause="extra_collective", confidence="hypothesis", sentence=NASTY, decided_by=NASTY)
        ],
        remedies=[Remedy(title=NASTY, text=NASTY, diff=NASTY)],
        anti_advice=[NASTY],
        probes=[Probe(title=NASTY, text=NASTY)],
        missing_evidence=[Missing(what=NASTY, how=NASTY)],
        excerpts=[Excerpt(file=NASTY, function=NASTY, cohorts=["0-2", "3"], lines=lines, note=NASTY)],
    )
    job = Job(world_size=4, ranks_seen="0-3", groups=[], group_count=1, calls=9, dumps=4)
    evidence = [Evidence(id="D0#1", source=NASTY, where=NASTY, quote=NASTY)]
    return Diagnosis(
        job=job, verdicts=[verdict], evidence=evidence, notes=[Note(file=NASTY, where=NASTY, what=NASTY)]
    )
