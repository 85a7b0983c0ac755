"""Where a verdict comes from: every row of the table can win, and nothing else makes a verdict."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from msgspec.structs import replace
from support.reason.broke_off import broken_off
from support.reason.building import Call, Job, Step, Stop, case_of
from support.reason.no_dumps import all_gave_up
from support.reason.witnesses import IN_ALL_REDUCE, IN_BARRIER, IN_INIT, Frame, Witnesses, at

import rankandfile
from rankandfile.model.case import Case
from rankandfile.model.causes import CAUSES
from rankandfile.model.claims import StandsAt
from rankandfile.model.diagnosis import Alternative, Culprit, Location, to_json
from rankandfile.model.findings import NamedByCode, SourceFinding, SourceFindings
from rankandfile.model.sentence import in_words
from rankandfile.reason import concluded, diagnose, findings, gather, with_source
from rankandfile.reason.claims.said import NOT_SHOWN
from rankandfile.reason.conclusion import Conclusion
from rankandfile.reason.verdict import believed, precedence
from rankandfile.reason.verdict.finding import Finding
from rankandfile.reason.verdict.precedence import PRECEDENCE, SOURCES, Precedence, believe
from rankandfile.reason.verdict.with_code import ADDED_BY_CODE

PACKAGE = Path(rankandfile.__file__).parent


def one_is_missing(waited_s: float = 600) -> Case:
    """Ranks 0, 1 and 3 have waited so long for rank 2."""
    made: list[Step] = [Call("0", "all_reduce", 64, "train.py:9")]
    programs = dict.fromkeys(range(4), made * 2)
    job = Job({"0": [0, 1, 2, 3]}, {**programs, 2: [*made, Stop()]})
    return case_of(job, waited_s=waited_s)


def one_is_missing_in_new_work() -> Case:
    """Rank 2 has not come to a call that nobody made before."""
    made: list[Step] = [Call("0", "all_reduce", 64, "train.py:9")]
    first = Call("0", "all_reduce", 64, "validate.py:30")
    both = {rank: [*made, *made, first] for rank in (0, 1)}
    return case_of(Job({"0": [0, 1, 2]}, {**both, 2: [*made, *made, Stop()]}), waited_s=60)


def one_is_seen_to_move() -> Case:
    """Nothing tells when the dumps were written, and rank 1, that the other waits for, got on between two looks."""
    made: list[Step] = [Call("0", "all_reduce", 64, "train.py:9")]
    case = case_of(Job({"0": [0, 1]}, {0: made * 2, 1: [*made, Stop()]}))
    case = replace(case, dumps=case.dumps.with_columns(pl.lit(None, pl.Int64).alias("written_ns")))
    return Witnesses(case).stack(1, at(17)).stack(1, at(23)).case


def all_done() -> Case:
    made = [Call("0", "all_reduce", 64, "train.py:9")]
    return case_of(Job({"0": [0, 1]}, {rank: list(made) for rank in range(2)}))


def before_the_first_group() -> Case:
    """Rank 1 has not come to the setup that the others sit in."""
    witnesses = Witnesses(Case(world_size=3)).stack(0, IN_INIT).stack(2, IN_INIT)
    return witnesses.stack(1, at(17, "fetch", "/workspace/prepare.py")).case


def in_calls(*stacks: list[Frame]) -> Case:
    """Each rank was seen once, in this place."""
    witnesses = Witnesses(Case(world_size=len(stacks)))
    for rank, frames in enumerate(stacks):
        witnesses.stack(rank, frames)
    return witnesses.case


def one_compared_another_size() -> Case:
    """By the wrapper's lines, each rank about itself and one other: rank 1 is about to make a smaller call."""
    witnesses = Witnesses(Case(world_size=8))
    sizes = {rank: "32" if rank == 1 else "64" for rank in range(8)}
    for rank in range(8):
        witnesses.log(rank, rank)
        peer, usual = (rank + 1) % 8, {"seq": 217, "op": "ALLREDUCE", "dtype": "Float"}
        witnesses.event(
            "wrapper_mismatch", "messenger", rank, group_rank=rank, about=[peer], about_in="group", **usual,
            sizes=sizes[rank], peer_sizes=sizes[peer], **{f"peer_{name}": value for name, value in usual.items()},
        )  # fmt: skip
    return witnesses.case


def one_raised() -> Case:
    """No call, no stack: a traceback of rank 2."""
    return (
        Witnesses(Case(world_size=4))
        .log(2, 2, "KeyError: 'bucket'")
        .event("traceback", "origin", 2, text="KeyError: 'bucket'")
        .case
    )


def lost_connections() -> Case:
    return Witnesses(Case(world_size=2)).event("gloo_peer_closed", "echo", None, peer="[10.0.0.2]:5000").case


def asked_nccl_for_another_type() -> Case:
    told = all_gave_up(world=6)
    for rank in range(6):
        datatype = 9 if rank < 2 else 7
        told = told.event(
            "nccl_call", "fact", rank, seq=3, op="AllReduce", size_in=4, datatype=datatype, nranks=6
        )
    return told.case


#: Per row of the table, a case in which it is the first that is believed.
WINS: dict[str, Callable[[], Case]] = {
    "the job broke off": lambda: broken_off().exit(1, "SIGKILL").case,
    "calls that wait, long enough to hang": one_is_missing,
    "what stacks, logs and exits alone say": before_the_first_group,
    "the watchdogs' lines of all ranks together, with a name": lambda: (
        all_gave_up(besides=(1,)).answered(1, 8, group="default_pg").case
    ),
    "torch's own checks": one_compared_another_size,
    "calls that wait, no longer than others before": lambda: one_is_missing(waited_s=0.2),
    "where the stacks of all ranks stand, with a name": lambda: in_calls(
        IN_ALL_REDUCE, IN_ALL_REDUCE, IN_BARRIER
    ),
    "calls that wait after work that is new, with a name": one_is_missing_in_new_work,
    "single lines of logs, with a name": one_raised,
    "single lines of logs, by a log of calls": asked_nccl_for_another_type,
    "the watchdogs' lines of all ranks together": lambda: all_gave_up().case,
    "where the stacks of all ranks stand": lambda: in_calls(IN_ALL_REDUCE, IN_BARRIER),
    "single lines of logs": lost_connections,
    "calls that wait": one_is_seen_to_move,
    "nothing waits": all_done,
}


def winner(case: Case) -> tuple[Precedence, str]:
    """The row that the verdict is of, and the sentence that it begins with."""
    found = findings(gather(case))
    assert found.keys() == SOURCES.keys()
    for row in PRECEDENCE:
        for finding in found[row.source]:
            if row.only is None or row.only(finding):
                return row, in_words(finding.sentence)
    raise AssertionError("no row of the table has anything to say")


@pytest.mark.parametrize(("row", "name"), list(zip(PRECEDENCE, WINS, strict=True)), ids=WINS)
def test_every_row_can_win(row: Precedence, name: str) -> None:
    case = WINS[name]()
    won, sentence = winner(case)
    assert won == row
    assert name.startswith(row.source)
    assert diagnose(case).verdicts[0].sentence.startswith(sentence)


def test_every_source_is_in_the_table_and_the_last_row_takes_what_is_left() -> None:
    assert {row.source for row in PRECEDENCE} == SOURCES.keys()
    assert PRECEDENCE[-1].only is None
    assert findings(gather(Case(world_size=1)))[PRECEDENCE[-1].source]


NONE: dict[str, tuple[Finding, ...]] = dict.fromkeys(SOURCES, ())
#: Of a broken reasoning: nobody has taken a stack of rank 1.
REFUTED = Finding(
    cause="early_exit",
    confidence="supported",
    sentence="Rank 1 left its loop.",
    culprits=(1,),
    claims=(StandsAt(ranks="1", file="train.py", line=12),),
)
NOTED = "rank 1 stands at train.py:12: the tables do not show it"


@pytest.mark.parametrize("same", [False, True], ids=["of the next source", "of the same source"])
def test_what_does_not_hold_gives_way_to_what_does(same: bool) -> None:
    facts = gather(one_is_missing())
    (true,) = findings(facts)[precedence.CALLS_THAT_WAIT]
    found = (
        {precedence.CALLS_THAT_WAIT: (REFUTED, true)}
        if same
        else {precedence.BROKE_OFF: (REFUTED,), precedence.CALLS_THAT_WAIT: (true,)}
    )
    (one,), notes = believe(facts, {**NONE, **found})
    verdict = one.verdict()
    assert [culprit.rank for culprit in verdict.culprits] == [2]
    assert "Rank 2 never issued the all_reduce" in verdict.sentence
    assert [note.what for note in notes] == [NOTED]


def test_where_no_source_has_anything_that_holds_that_is_said() -> None:
    first, second = REFUTED, replace(REFUTED, cause="raised", sentence="Rank 1 raised an exception.")
    found = {precedence.BROKE_OFF: (first,), precedence.STACKS: (second,)}
    (one,), notes = believe(gather(one_is_missing()), {**NONE, **found})
    verdict = one.verdict()
    assert (verdict.sentence, verdict.confidence, verdict.culprits) == (NOT_SHOWN, "hypothesis", [])
    assert {note.what for note in notes} == {NOTED}


@pytest.mark.parametrize(
    ("op", "parted"),
    [("barrier", True), ("broadcast", False)],
    ids=["it made that call", "it made none such"],
)
def test_where_stacks_show_a_parting_it_is_added_if_the_records_show_it_too(op: str, parted: bool) -> None:
    """Rank 2 is in the barrier at the number at which all others reduce, and is named by another way."""
    usual, other = Call("0", "all_reduce", 64, "train.py:9"), Call("0", "barrier", 1, "train.py:30")
    programs: dict[int, list[Step]] = {rank: [usual, usual] for rank in range(4)}
    programs[2] = [usual, other]
    facts = gather(case_of(Job({"0": [0, 1, 2, 3]}, programs, backend="gloo"), waited_s=600))
    (known,) = findings(facts)[precedence.CALLS_THAT_WAIT]
    assert known.divergence is not None
    first, second = known.divergence.cohorts
    assert second.call is not None
    seen = replace(
        known.divergence,
        cohorts=[first, replace(second, call=replace(second.call, op=op, file=None, line=None))],
    )
    named = Finding(cause="undetermined", confidence="supported", sentence="It is rank 2.", culprits=(2,))
    by_stacks = replace(named, cause="rank_conditional", divergence=seen)
    found = {precedence.CALLS_THAT_WAIT: (named,), precedence.STACKS: (by_stacks,)}
    (one,), notes = believe(facts, {**NONE, **found})
    verdict = one.verdict()
    assert (verdict.sentence, verdict.confidence) == ("It is rank 2.", "supported")
    assert [culprit.rank for culprit in verdict.culprits] == [2]
    assert (verdict.divergence is not None, notes) == (parted, [])


def open_ended() -> Conclusion:
    """Nobody is named, and the one alternative is what the code will show."""
    conclusion = concluded(gather(all_gave_up().case))
    other = Alternative(cause="skipped_collective", confidence="hypothesis", sentence="One left a call out.")
    (one,) = conclusion.believed
    one = replace(one, finding=replace(one.finding, alternatives=(other,)))
    return replace(conclusion, believed=(one,))


LINE = SourceFinding(location=Location(file="train.py", line=7), sentence="Rank 1 parted there.")
NAMED = NamedByCode(ranks=(1,), doing="went another way", sentence="It is 1.")


def test_the_code_adds_a_line() -> None:
    before = open_ended()
    (verdict,) = with_source(before, SourceFindings(of_verdicts=(LINE,)), Case()).verdicts()
    assert verdict.location == LINE.location
    assert verdict.sentence == f"{before.verdicts()[0].sentence} Rank 1 parted there."
    assert (verdict.cause, verdict.culprits) == ("undetermined", [])


def test_the_code_names_a_rank_and_then_shows_the_exact_cause() -> None:
    said = SourceFinding(
        location=LINE.location, named=NAMED, causes=("skipped_collective", "rank_conditional")
    )
    (verdict,) = with_source(open_ended(), SourceFindings(of_verdicts=(said,)), Case()).verdicts()
    assert verdict.culprits == [Culprit(rank=1, doing="went another way")]
    assert (verdict.victims, verdict.cause, verdict.family) == ("0,2,3", "rank_conditional", "paths")
    assert verdict.alternatives == []
    assert verdict.remedies == list(CAUSES["rank_conditional"].remedies)
    assert verdict.anti_advice == list(CAUSES["rank_conditional"].anti_advice)
    assert verdict.probes == list(CAUSES["rank_conditional"].probes)


def test_what_the_code_adds_is_added_in_one_order() -> None:
    names = [add.__name__.strip("_") for add in ADDED_BY_CODE]
    assert names == ["whom_it_names", "as_many", "which_exact_cause", "at_which_line", "not_yet_there"]


def test_a_verdict_stays_as_it_was_where_the_source_has_no_answer() -> None:
    conclusion = concluded(gather(one_is_missing()))
    before = conclusion.document()
    after = with_source(conclusion, SourceFindings(of_verdicts=(None,)), Case()).document()
    assert before.verdicts[0].location is not None
    assert after.verdicts[0].location is None
    after.verdicts[0].location = before.verdicts[0].location
    assert to_json(after) == to_json(before)


def verdicts_made(path: Path) -> int:
    """How often the module makes the document's verdict."""
    text = path.read_text(encoding="utf-8")
    if "Verdict" not in text:
        return 0
    tree = ast.parse(text)
    imported = any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").endswith("diagnosis")
        and any(alias.name == "Verdict" for alias in node.names)
        for node in ast.walk(tree)
    )
    called = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and name(node.func) == "Verdict"]
    return len(called) if imported else 0


def name(function: ast.expr) -> str:
    return getattr(function, "id", "") or getattr(function, "attr", "")


def test_one_place_makes_verdicts() -> None:
    made = {
        path: n for path in PACKAGE.rglob("*.py") if "lab" not in path.parts and (n := verdicts_made(path))
    }
    assert made == {Path(believed.__file__): 1}
