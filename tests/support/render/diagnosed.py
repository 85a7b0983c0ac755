"""A diagnosis for every cause: simulated where the simulator makes the hang, written by hand where it does not.

The documents lie in `diagnoses/`, so that a test of an output needs no simulation, and what each output makes of
them in `snapshots/`. After a change of words or of the card, and a look at the difference:

    PYTHONPATH=tests python -m support.render.regenerate
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rankandfile.evidence.load import load
from rankandfile.lab.sim.run import simulate
from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import (
    Alternative,
    Call,
    Cohort,
    Culprit,
    Diagnosis,
    Divergence,
    Excerpt,
    ExcerptLine,
    GroupSummary,
    Job,
    Location,
    Missing,
    Verdict,
    Wait,
    from_json,
    to_json,
)
from rankandfile.model.ledger import Evidence
from rankandfile.reason import diagnose
from support.places import TESTS

DOCUMENTS = TESTS / "render" / "diagnoses"

#: cause -> a scenario of the simulator that ends in it
SIMULATED = {
    "skipped_collective": "skip-nonfinite-3d",
    "extra_collective": "extra-adapter-tp",
    "order_inversion": "cycle-on-devices",
    "early_exit": "early-stop-3d",
    "size_mismatch": "size-metrics",
    "dtype_mismatch": "dtype-metrics",
    "split_mismatch": "split-moe",
    "group_mismatch": "group-metrics",
    "host_blocked": "blocked-loader-fsdp",
    "raised": "raised-ddp",
    "killed": "killed-oom",
    "exited": "exited-3",
    "gpu_stuck": "gpu-stuck-3d",
    "gpu_error": "gpu-error-illegal-access",
    "network_stalled": "network-stalled",
    "link_error": "link-error",
    "peer_unreachable": "peer-unreachable",
    "init_stuck": "init-stuck",
    "teardown_only": "teardown-stuck",
    "too_short_timeout": "too-short-timeout",
    "no_hang": "healthy-3d",
    "root_mismatch": "root-best",
    "undetermined": "blocked-save",
}


#: What of the evidence is read, where not all of it.
PART = {"undetermined": "evidence/dumps"}


def simulated(cause: str) -> Diagnosis:
    """As `raf diagnose` has it from the folder in which the evidence lies."""
    scenario, evidence = SIMULATED[cause], PART.get(cause, "evidence")
    with tempfile.TemporaryDirectory() as folder:
        case = simulate(scenario, Path(folder, "case"))
        with _inside(case), tempfile.TemporaryDirectory() as spool:
            return diagnose(load([Path(evidence)], Path(spool), jobs=1))


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def document(cause: str) -> Diagnosis:
    return from_json((DOCUMENTS / f"{cause}.json").read_bytes())


def write_documents() -> None:
    DOCUMENTS.mkdir(exist_ok=True)
    for cause in DOCUMENTED:
        made = simulated(cause) if cause in SIMULATED else HAND_MADE[cause]()
        (DOCUMENTS / f"{cause}.json").write_bytes(to_json(made) + b"\n")
        if made.verdicts[0].cause != cause:
            raise SystemExit(
                f"{SIMULATED[cause]} ends in {made.verdicts[0].cause} now: find another for {cause}"
            )


def _job() -> Job:
    members = GroupSummary(name="0", desc="default_pg", members="0-7", size=8)
    return Job(
        world_size=8,
        ranks_seen="0-7",
        groups=[members],
        group_count=1,
        calls=1408,
        dumps=8,
        backends=["nccl"],
        versions=["2.10"],
    )


def _call(op: str, seq: int, place: str, function: str, rank: int) -> Call:
    file, line = place.split(":")
    return Call(
        op=op,
        seq=seq,
        file=f"/workspace/train/{file}",
        line=int(line),
        function=function,
        evidence=[f"D{rank}#{seq + 40}"],
    )


def _evidence(call: Call, rank: int, group: str) -> Evidence:
    return Evidence(
        id=call.evidence[0],
        source=f"dumps/nccl_trace_rank_{rank}",
        where=f"record {call.evidence[0].partition('#')[2]}",
        quote=f"rank {rank}: nccl:{call.op}; group {group}; seq {call.seq}; issued; [[1024]] Float; "
        f"{call.file}:{call.line} in {call.function}",
    )


def _made(
    cause: str,
    family: str,
    kind: str,
    doing: str,
    sentence: str,
    ours: Call,
    theirs: Call | None,
    **more: object,
) -> Diagnosis:
    """Rank 3 of eight departs from the others."""
    group = "default_pg [0-7]"
    cohorts = [Cohort(ranks="0-2,4-7", call=ours), Cohort(ranks="3", call=theirs)]
    cited = [_evidence(ours, 0, group), *([_evidence(theirs, 3, group)] if theirs else [])]
    verdict = Verdict(
        hang=True,
        cause=cause,
        family=family,
        confidence="supported",
        sentence=sentence,
        culprits=[Culprit(rank=3, host="node00", doing=doing)],
        victims="0-2,4-7",
        divergence=Divergence(group=group, seq=ours.seq, kind=kind, cohorts=cohorts, members="0-7"),
        location=Location(file=ours.file or "", line=ours.line, function=ours.function),
        waits=[
            Wait(
                ranks="0-2,4-7", waits_for="3", group=group, seq=ours.seq, op=ours.op, evidence=ours.evidence
            )
        ],
        evidence=[one.id for one in cited],
        remedies=list(CAUSES[cause].remedies),
        anti_advice=list(CAUSES[cause].anti_advice),
        probes=list(CAUSES[cause].probes),
    )
    for name, value in more.items():
        setattr(verdict, name, value)
    return Diagnosis(job=_job(), verdicts=[verdict], evidence=cited, notes=[])


def _different_collective() -> Diagnosis:
    ours = _call("all_reduce", 812, "metrics.py:11", "means", 0)
    theirs = _call("broadcast", 812, "metrics.py:26", "best", 3)
    return _made(
        "different_collective",
        "paths",
        "substituted",
        "made the broadcast at metrics.py:26 instead",
        "Rank 3 made the broadcast at metrics.py:26 where ranks 0-2 and 4-7 made the all_reduce at metrics.py:11. "
        "Ranks 0-2 and 4-7 wait in the all_reduce at metrics.py:11 (group default_pg [0-7], seq 812).",
        ours,
        theirs,
    )


def _uneven_inputs() -> Diagnosis:
    ours = _call("all_reduce", 812, "trainer.py:88", "train_epoch", 0)
    return _made(
        "uneven_inputs",
        "paths",
        "absent",
        "in evaluate, after the loop over its batches",
        "Rank 3 ran out of batches after step 270: it is after the loop, where ranks 0-2 and 4-7 make the all_reduce "
        "at trainer.py:88.",
        ours,
        _call("barrier", 812, "trainer.py:104", "evaluate", 3),
        missing_evidence=[
            Missing(what="the number of batches of each rank", how="log len(loader) on every rank")
        ],
    )


def _rank_conditional() -> Diagnosis:
    ours = _call("all_reduce", 812, "trainer.py:88", "train_epoch", 0)
    lines = [
        ExcerptLine(number=84, text="    loss.backward()", cohorts=[0, 1]),
        ExcerptLine(
            number=85, text="    if step % report_every == 0 and rank == 3:", cohorts=[0, 1], mark="condition"
        ),
        ExcerptLine(number=86, text="        dist.all_reduce(loss_sum)", cohorts=[1], mark="call"),
        ExcerptLine(number=87, text="    optimizer.zero_grad()", cohorts=[0]),
        ExcerptLine(number=88, text="    dist.all_reduce(norm)", cohorts=[0], mark="call"),
    ]
    return _made(
        "rank_conditional",
        "paths",
        "extra",
        "made the all_reduce at trainer.py:86 alone",
        "Rank 3 made the all_reduce at trainer.py:86 under a condition that depends on the rank; the others never "
        "come to it.",
        ours,
        _call("all_reduce", 812, "trainer.py:86", "train_epoch", 3),
        location=Location(
            file="/workspace/train/trainer.py",
            line=86,
            function="train_epoch",
            condition="rank == 3",
            condition_line=85,
            why_it_can_differ="`rank` comes from dist.get_rank(), which is different on every rank.",
        ),
        excerpts=[
            Excerpt(
                file="/workspace/train/trainer.py",
                function="train_epoch",
                cohorts=["0-2,4-7", "3"],
                lines=lines,
            )
        ],
    )


def _swallowed_exception() -> Diagnosis:
    ours = _call("all_reduce", 812, "trainer.py:66", "train_step", 0)
    return _made(
        "swallowed_exception",
        "paths",
        "skipped",
        "raised ValueError: empty batch, caught it, and went on to the broadcast at trainer.py:63",
        "Rank 3 skipped the all_reduce at trainer.py:66; from there on its calls are one behind. Before that, rank 3 "
        "raised ValueError: empty batch, and went on: its process did not end. The exception was caught, and the call "
        "left out.",
        ours,
        _call("broadcast", 812, "trainer.py:63", "train_step", 3),
        alternatives=[
            Alternative(
                cause="skipped_collective",
                confidence="supported",
                sentence="Rank 3 may have taken the other path for another reason.",
                culprits="3",
                decided_by="the source between the exception and the call",
            )
        ],
    )


def _host_slow() -> Diagnosis:
    return _made(
        "host_slow",
        "host",
        "absent",
        "in read_block, storage.py:19, moving between 5 snapshots",
        "Rank 3 has not joined the all_reduce at average.py:17 (group default_pg [0-7], seq 812) yet: in read_block, "
        "storage.py:19, moving between 5 snapshots.",
        _call("all_reduce", 812, "average.py:17", "average", 0),
        None,
        location=Location(file="/workspace/train/storage.py", line=19, function="read_block"),
        alternatives=[
            Alternative(
                cause="host_blocked",
                confidence="hypothesis",
                sentence="It may turn in a loop that never ends.",
                culprits="3",
                decided_by="whether it ever comes to the call",
            )
        ],
    )


HAND_MADE = {
    "different_collective": _different_collective,
    "uneven_inputs": _uneven_inputs,
    "rank_conditional": _rank_conditional,
    "swallowed_exception": _swallowed_exception,
    "host_slow": _host_slow,
}

DOCUMENTED = [cause for cause in CAUSES if cause in SIMULATED or cause in HAND_MADE]
