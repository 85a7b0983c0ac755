"""Whom the code names, where the evidence shows two paths and nobody who is out of line.

A test that singles out ranks by their number, as `if rank == 0:` or `if rank != 0:` does, names those ranks, whichever
way they took. A decision upon what comes to one rank alone, as a signal does, names those who left there the way that
all had taken in every round before: it came to them. Any other test says as much for one side as for the other: nobody
is blamed. Nobody is blamed who waits on the same side as all who wait.
"""

from __future__ import annotations

import ast

import polars as pl
from msgspec.structs import replace

from rankandfile.model.diagnosis import Verdict
from rankandfile.model.findings import NamedByCode
from rankandfile.model.heuristics import Heuristic
from rankandfile.model.ranks import format_ranks
from rankandfile.source.culprits.by_few import (
    OF_STAGES,
    ON_RANK,
    sides,
    who_added_otherwise,
    who_asked_for_it,
    who_came_alone,
    who_had_fewer,
    who_is_odd,
    who_left_a_loop,
    who_made_another,
    who_put_off,
    who_ran_out,
)
from rankandfile.source.lines.call_paths import CallPaths
from rankandfile.source.lines.decision import MOST_ASKED
from rankandfile.source.lines.divergence import (
    CodeDivergence,
    Side,
    ranks_in_words,
    ranks_of,
    waiting_and_missing,
)
from rankandfile.source.lines.found_line import FoundLine

from .asked_of_all import who_asks_all
from .exact_cause import DIRECT
from .guard_clause import who_turned_back
from .let_go_on import who_was_let_go_on
from .out_of_date import who_is_out_of_date
from .usual_way import left_the_usual, made_a_new_call
from .ways import over_for, way_of_each

_ON_ITS_RANK = Heuristic(
    "test on the rank", "a test for a rank by its number singles out those that it names"
)
_CAME_TO_ONE = Heuristic(
    "came to one rank",
    "upon what comes to one rank alone, who left the way of the rounds before is whom it came to",
)
_OWN_DATA = Heuristic(
    "own data new way",
    "upon a test of its own data, who left the way of the rounds before is the one that departed",
)
_KINDS = ("decision", "caught", "flag", "again")
#: What comes to a process from outside, at some time, and to others not.
_FROM_OUTSIDE = ("signal", "exception", "file_system", "environment", "memory", "network")


def named_by_code(verdict: Verdict, found: FoundLine, paths: CallPaths) -> NamedByCode | None:
    """None where the evidence names somebody already, or the code nobody."""
    if found.kind == "some_make" and verdict.hang and not verdict.culprits:
        return who_made_another(verdict, found)
    if found.kind == "renewed" and verdict.hang and not verdict.culprits:
        return who_is_out_of_date(verdict, found)
    if found.kind == "fewer_items" and verdict.hang is None and not verdict.named:
        return who_left_a_loop(found)
    if (
        not verdict.hang
        or verdict.culprits
        or not (verdict.family == "paths" or verdict.cause == "undetermined")
    ):
        return None
    divergence = found.divergence
    if found.kind == "items" and found.singled and not _ON_ITS_RANK.off:
        return _who_has_more(verdict, found)
    if found.kind == "callee" and found.singled and not _ON_ITS_RANK.off:
        return _who_has_another_object(verdict, found)
    if found.kind == "barred" and divergence is not None and divergence.exact:
        return who_came_alone(verdict, found)
    if found.kind in OF_STAGES:
        return OF_STAGES[found.kind](found)
    if found.kind in ("anew", "told") and divergence is not None and divergence.exact:
        return who_added_otherwise(verdict, found, divergence)
    if found.kind == "put_off" and divergence is not None and divergence.exact:
        return who_put_off(found, divergence)
    if divergence is None:
        return None
    if (divergence.exact or _gave_up(paths)) and (
        odd := who_is_odd(verdict, found, divergence, left_the_usual(divergence, paths))
    ):
        return odd
    if found.kind == "share" and divergence.exact and (fewer := who_had_fewer(found, divergence)):
        return fewer
    if found.kind not in _KINDS:
        return _turned_back(verdict, found, divergence, paths) if found.kind == "changed" else None
    suspects = tuple(one.rank for one in verdict.suspects)
    if not divergence.exact and (any(paths.calls(s.rank) for s in sides(divergence)) or not _gave_up(paths)):
        # What came before is not known, or nothing shows that they stay where their stacks are.
        return None
    if found.kind == "flag" and divergence.exact:
        asked = who_asked_for_it(verdict, found, divergence, paths)
        if asked is not None:
            return asked
    if found.kind == "again":
        return _who_began_again(found, divergence) if divergence.exact else None
    if (
        found.reason is not None
        and found.reason.source in _FROM_OUTSIDE
        and (divergence.exact or not suspects)
    ):
        return (
            _whom_it_came_to(verdict, found, divergence, paths)
            or _turned_back(verdict, found, divergence, paths)
            or who_was_let_go_on(verdict, found, divergence)
        )
    source = found.reason.source if found.reason is not None else ""
    if source == "shard_length" and divergence.exact and (out := who_ran_out(verdict, found, divergence)):
        return out
    if (found.kind == "flag" or source == "local_data") and divergence.exact:
        return (
            who_ran_out(verdict, found, divergence)
            or _whose_data_said_so(verdict, found, divergence, paths)
            or _turned_back(verdict, found, divergence, paths)
        )
    if found.kind != "decision":
        return None
    return (
        _turned_back(verdict, found, divergence, paths)
        or _whom_it_names(verdict, found, divergence)
        or who_asks_all(verdict, found, divergence, paths)
    )


def _whom_it_names(verdict: Verdict, found: FoundLine, divergence: CodeDivergence) -> NamedByCode | None:
    """The decision is on the rank itself: whom it names by number, if all who wait took the other way."""
    decision = found.decision
    if decision is None or decision.reason.source not in ON_RANK or len(decision.reason.chain) > DIRECT:
        return None
    condition = decision.condition
    if condition.kind != "if" or not isinstance(condition.node, ast.expr) or _ON_ITS_RANK.off:
        return None
    ways = way_of_each(decision, divergence)
    suspects = {one.rank for one in verdict.suspects}
    side = _singled_out(condition.node)
    if side is None and suspects:
        # A test behind a name, as `is_main()`: the few that the stacks show apart are those that it singles out.
        side = next((way for way, of in ways.items() if {*of.members} == suspects), None)
    if ways.keys() != {"taken", "not taken"} or side is None:
        return None
    ranks = ways[side].members
    others = ways["not taken" if side == "taken" else "taken"].members
    if not {*ranks[:MOST_ASKED]} <= {*decision.normal, *decision.culprit}:
        # By its number, one of them cannot have gone there.
        return None
    if suspects and {*ranks} != suspects:
        return None
    if verdict.cause == "undetermined" and not _awaited(verdict, ranks, others):
        return None
    took = "took it" if side == "taken" else "did not take it"
    return NamedByCode(
        ranks=ranks,
        doing=f"went another way than its peers at {found.place.at(condition.line)}",
        sentence=f"The code decides it: the test singles out the ranks that {took}.",
    )


def _singled_out(test: ast.expr) -> str | None:
    """Which outcome of a test on the rank is that of the ranks it names. Every second one is no rank with a name."""
    match test:
        case ast.Compare(left=ast.BinOp()):
            return None
        case ast.Compare(ops=[ast.Eq() | ast.In()]):
            return "taken"
        case ast.Compare(ops=[ast.NotEq() | ast.NotIn()]):
            return "not taken"
    return None


def _awaited(verdict: Verdict, ranks: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """All who wait took the other way, and they wait for nobody else: of others that are not there the test says
    nothing."""
    waiting, missing = waiting_and_missing(verdict)
    return bool(waiting) and waiting <= set(others) and missing <= set(ranks)


def _gave_up(paths: CallPaths) -> bool:
    return bool((paths.case.events["kind"].cast(pl.String) == "watchdog_timeout").any())


def _whom_it_came_to(
    verdict: Verdict, found: FoundLine, divergence: CodeDivergence, paths: CallPaths
) -> NamedByCode | None:
    odd = left_the_usual(divergence, paths)
    if odd is None or _CAME_TO_ONE.off:
        return None
    ranks = odd.members
    who = ranks_in_words(odd)
    open_ = (other.cause for other in verdict.alternatives if ranks_of(other.culprits) == [*ranks])
    return NamedByCode(
        ranks=ranks,
        doing=f"went another way than in all rounds before, at {found.at}",
        sentence=f"What decides it comes to one rank and not to another, and {who} did otherwise than in all rounds "
        "before.",
        cause="early_exit" if over_for(found) is odd else next(open_, None),
    )


def _turned_back(
    verdict: Verdict, found: FoundLine, divergence: CodeDivergence, paths: CallPaths
) -> NamedByCode | None:
    if not any(paths.calls(side.rank) for side in sides(divergence)):
        # Without a single call recorded, all who were seen stay where they are: the guard stands between two places.
        divergence = _with_all_alike(verdict, divergence, paths)
        told = {*divergence.normal.members, *divergence.culprit.members}
        known = {divergence.normal.path, divergence.culprit.path}
        if any(paths.now(rank) not in known for rank in {*paths.seen()} - told):
            # A third place: the way that is meant may be theirs.
            return None
    elif not divergence.exact:
        return None
    return who_turned_back(verdict, found, divergence, left_the_usual(divergence, paths))


def _with_all_alike(verdict: Verdict, divergence: CodeDivergence, paths: CallPaths) -> CodeDivergence:
    """Each side with all who wait in its place by its path; not where they parted at a call with a number: of that
    call's group nobody else is known to be."""
    if verdict.divergence is not None and verdict.divergence.seq is not None:
        return divergence
    waiting = {rank for wait in verdict.waits for rank in ranks_of(wait.ranks)}

    def widened(side: Side) -> Side:
        alike = {rank for rank in waiting if side.path and paths.now(rank) == side.path}
        return replace(side, ranks=format_ranks({*side.members, *alike}))

    return replace(divergence, normal=widened(divergence.normal), culprit=widened(divergence.culprit))


def _whose_data_said_so(
    verdict: Verdict, found: FoundLine, divergence: CodeDivergence, paths: CallPaths
) -> NamedByCode | None:
    """A test of each rank's own data came out on one as it never had on any: that one did something new."""
    odd = left_the_usual(divergence, paths)
    if odd is None and found.decision is not None and found.decision.condition.kind == "if":
        odd = made_a_new_call(divergence, paths)
    varies = found.reason is not None and found.reason.level == "varying"
    if odd is None or not varies or verdict.cause == "undetermined" or _OWN_DATA.off:
        return None
    return NamedByCode(
        ranks=odd.members,
        doing=f"went another way than in all rounds before, at {found.at}",
        sentence=f"What is asked there is this rank's own, and {ranks_in_words(odd)} did otherwise than in all rounds "
        "before.",
    )


def _who_has_more(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    """A test for a rank by its number puts more into what all go over: the ranks that it names are out of line."""
    suspects = {one.rank for one in verdict.suspects}
    if suspects and suspects != {*found.singled}:
        return None
    return NamedByCode(
        ranks=found.singled,
        doing=f"has other items than its peers, by {found.at}",
        sentence="The code decides it: a test on the rank puts more into what is gone over there.",
    )


def _who_has_another_object(verdict: Verdict, found: FoundLine) -> NamedByCode | None:
    """A test for a rank gives it an object of another class, and that makes a call where the others' makes none."""
    of_the_rank = found.reason is not None and found.reason.source in ON_RANK
    suspects = {one.rank for one in verdict.suspects}
    both = [rank for side in sides(found.divergence) for rank in side.members] if found.divergence else []
    most = 2 * len(found.singled) > len(both)
    if not of_the_rank or most or (suspects and suspects != {*found.singled}):
        return None
    return NamedByCode(
        ranks=found.singled,
        doing=f"has an object of another class, by {found.at}, which makes a call",
        sentence="The code decides it: a test on the rank chooses the object, and on the others it makes no call.",
    )


def _who_began_again(found: FoundLine, divergence: CodeDivergence) -> NamedByCode:
    """A function is run once more on the rank on which something in it failed."""
    return NamedByCode(
        ranks=divergence.culprit.members,
        doing=f"began {found.place.function.name} ({found.place.at(found.place.function.first_line)}) once more",
        sentence=f"Who begins once more what the others are in the middle of is out of step with them: "
        f"{ranks_in_words(divergence.culprit)} did.",
    )
