"""What the code says of a verdict, in a sentence or two. No claim that the code does not support."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from rankandfile.model.claims import Claim, TookBranch
from rankandfile.model.findings import Implied
from rankandfile.model.ranks import format_ranks, parse_ranks
from rankandfile.model.sentence import Clause, Sentence, told
from rankandfile.source.program.called import called_name
from rankandfile.source.program.modules import Function
from rankandfile.source.program.names import External, resolve
from rankandfile.source.program.places import SourcePlaces

from .arguments import calls_on
from .call_paths import Stop
from .decision import MOST_ASKED
from .divergence import CodeDivergence, Side
from .divergence import ranks_in_words as _ranks
from .found_line import FoundLine
from .implied_collectives import implicit
from .took_branch import part_of, took_branch

_LONGEST = 160
#: What is longer is no name, and would not be found by it.
_LONGEST_NAME = 40
_ANY = "something on which the ranks do not agree"
_SOURCES = {
    "local_data": "this rank's own data, which is never reduced",
    "rank_api": "the rank's own number",
    "shard_length": "the length of this rank's share of the data",
    "exception": "an exception that one rank alone may meet",
    "file_system": "the files that this rank reads",
    "environment": "this process's environment",
    "clock": "this rank's clock",
    "set_order": "the order of a set, which differs from process to process",
    "arrival": "the order in which things are done on this rank",
    "rng": "a random number of this process",
    "queue": "what has reached this rank's queue",
    "signal": "a signal that this rank alone may get",
    "thread": "how far a thread of this rank has come",
    "cache": "what this process happens to have kept",
    "memory": "this rank's memory",
    "device": "this rank's device",
    "network": "what this rank gets over the network",
    "host": "the host that this rank is on",
    "process": "something that is different in every process",
}
#: Lines that stand between the two ways, whatever is known of them.
_SHOWN = ("decision", "changed", "items", "put_off", "no_graph")
_FROM = {
    "argument": "The argument comes from",
    "renewed": "Whether a rank does that is decided by",
    "order": "The order of the calls comes from",
    "filled": "What decides there was filled, or not, upon",
    "callee": "Which of the two it calls comes from",
    "dropped": "The loop comes to fewer items where an exception is caught by",
    "again": "That it is tried again is said by",
    "kept": "What a rank has asked for is kept by",
    "told": "Whether it was given anything is decided by",
    "anew": "Whether there was anything new is decided by",
    "put_off": "Whether it is, is decided by",
    "no_graph": "Whether it is taken is decided by",
    "fewer_items": "No other stage leaves out items; it does, by",
    "round_ahead": "The call can be left out upon",
    "went_by": "The call can be left out upon",
    "left_out_message": "What comes there is left out upon",
    "left_loop": "How often it goes round is said by",
    "stayed_in_loop": "How often it goes round is said by",
    "barred": "The others are kept from it by",
    "some_make": "Who comes to make another group before is decided by",
    "counted": "Who belongs to it is worked out by each rank alone in",
    "items": "Which of the two comes first is decided by",
    "flag": "It is stored upon",
    "ended": "That is",
    "logged": "How many values a rank logs is decided by",
    "wrote": "It came there by",
    "took_up": "Which place that is comes from",
    "share": "Each rank's share of the data comes from",
}
DIVERGED_LATER = ("changed", "keyed")
"""Kinds of lines that decide, where the ranks went different ways at another one."""


def sentence(found: FoundLine, places: SourcePlaces) -> Sentence:
    """Empty where there is nothing to add to what the evidence says."""
    if found.kind == "decision" and found.decision is not None and found.divergence is not None:
        return told(
            _diverging(found, places), _because(found), found.story, _unwritten(found.divergence, places)
        )
    if found.kind in DIVERGED_LATER and found.decision is not None and found.divergence is not None:
        test = found.decision.condition
        asked = replace(
            found, place=found.decision.place, line=test.line, condition=test.text, kind="decision"
        )
        return told(
            _diverging(asked, places), found.story, _because(found), _unwritten(found.divergence, places)
        )
    return _of_another_kind(found, places)


def _of_another_kind(found: FoundLine, places: SourcePlaces) -> str:
    if found.kind == "caught" and found.divergence is not None:
        return " ".join(filter(None, [_caught(found), _because(found), _unwritten(found.divergence, places)]))
    if found.kind in _FROM:
        begins = (
            f"{_FROM[found.kind]} `{_short(found)}` ({found.at})." if found.reason or not found.story else ""
        )
        return " ".join(filter(None, [found.story, begins, _because(found)]))
    if found.kind in ("raised", "exited") and found.condition:
        verb = "raises" if found.kind == "raised" else "exits"
        return " ".join(
            filter(None, [found.story, f"It {verb} upon `{_short(found)}` ({found.at}).", _because(found)])
        )
    if found.kind == "loop":
        return _because(found)
    if found.kind in ("awaits", "begun", "raised", "exited", "inherited", "inside", "next_item"):
        return found.story
    if found.kind == "held" and found.condition:
        return f"It stays in `{_short(found)}` ({found.at})."
    return ""


def _diverging(found: FoundLine, places: SourcePlaces) -> Clause | str:
    """With which ranks took which way, of those that were seen behind the test."""
    took = list(took_branch(found, places))
    ways = {(claim.line, claim.truth): word for word, claim in took}
    if not took:
        return _decided(found)

    def words(held: Sequence[Claim]) -> str:
        seen = [one for one in held if isinstance(one, TookBranch)]
        paths = [f"{ways[one.line, one.truth]} on {one.who}" for one in seen]
        one_way = len({one.ranks for one in seen}) < 2
        return _decided(found, f" ({', '.join([*paths, *_unseen(found)])})" if paths else "", one_way)

    return Clause(claims=tuple(claim for _, claim in took), words=words, without=_decided(found, ""))


def _unseen(found: FoundLine) -> list[str]:
    """The side of which nothing shows that it came to the test."""
    assert found.decision is not None and found.divergence is not None
    decision, divergence = found.decision, found.divergence
    if not decision.branching.guessed:
        return []
    normal = decision.branching.normal == "end"
    side, able = (divergence.normal, decision.normal) if normal else (divergence.culprit, decision.culprit)
    return [f"nothing shows that {_those(side, able)} came to it"]


def _decided(found: FoundLine, ways: str | None = None, one_way: bool = False) -> str:
    """`one_way`: of one side nothing shows which way it took."""
    assert found.decision is not None and found.divergence is not None
    decision, divergence = found.decision, found.divergence
    condition = decision.condition
    ours, theirs = decision.outcomes
    part = part_of(condition)
    decides = f"`{part}` in `{_short(found)}`" if part else f"`{_short(found)}`"
    place = f"at {found.at}, in {found.place.function.name}, by {decides}"
    one, other = _those(divergence.normal, decision.normal), _those(divergence.culprit, decision.culprit)
    paths = f" ({theirs} on {other}, {ours} on {one})" if ways is None else ways
    # Nothing shows that the test can differ, nor that the one side came to it, or which way it took there.
    supposed = decision.reason.level == "unknown" and (decision.branching.guessed or one_way)
    if not divergence.settled:
        went = "may have gone" if supposed else "went"
        return f"{_upper(one)} and {other} {went} different ways {place}{paths}."
    return f"{_upper(other)} {'may have gone' if supposed else 'went'} another way than {one} {place}{paths}."


def _caught(found: FoundLine) -> str:
    assert found.divergence is not None
    upon = ""
    if found.decision is not None and found.decision.condition.kind != "except":
        where = found.decision.place.at(found.decision.condition.line)
        how = "in" if found.decision.condition.kind == "call" else "upon"
        upon = f", raised {how} `{found.decision.condition.text.strip()[:_LONGEST]}` ({where}),"
    if found.supposed:
        return (
            f"Whoever of them caught an exception{upon} at {found.at}, by `{_short(found)}`, went on without what "
            "it was raised in: which rank did, nothing shows."
        )
    who = _ranks(came_through(found))
    return (
        f"On {who} an exception{upon} was caught at {found.at} by `{_short(found)}`, and the program went on."
    )


def came_through(found: FoundLine) -> Side:
    """Who came through the handler: on whom it raised or, where the test before tells no more, who left there."""
    divergence, decision = found.divergence, found.decision
    assert divergence is not None
    if found.singled:
        return Side(format_ranks(found.singled), found.singled[0], ())
    if decision is None:
        return divergence.culprit
    ways = decision.branching
    raised = [word in ("raised", "swallowed") for word in decision.outcomes]
    normal = raised[0] if any(raised) else ways.normal == "end" and ways.culprit != "end"
    return divergence.normal if normal else divergence.culprit


def _because(found: FoundLine) -> str:
    """Only what the analysis can show; a decision that it cannot judge is named without a reason. How the difference
    comes to the decision is told with the location."""
    reason = found.reason
    if reason is not None and reason.level == "unknown" and found.kind in _SHOWN:
        return "Why it came out differently was not found in the source."
    why = because(found)
    return f"It can differ between ranks: {why}." if why else ""


def because(found: FoundLine) -> str:
    """In a few words; empty where the analysis cannot show it."""
    reason = found.reason
    if reason is None or reason.level not in ("varying", "axes") or not reason.sentence:
        return ""
    if reason.agreed:
        groups = " and ".join(f"`{group}`" for group in sorted(reason.agreed))
        return f"it is reduced over {groups} only"
    source = _SOURCES.get(reason.source, _ANY)
    if reason.or_of:
        others = ", or ".join(f"on what `{part}` is" for part in reason.or_of)
        return f"it depends on {source}, by `{reason.of}`, or {others}"
    return f"it depends on {_read_there(found)}{source}"


def _read_there(found: FoundLine) -> str:
    """What a test that calls something, or reads what is set elsewhere, goes by there: where to look next."""
    chain = found.reason.chain if found.reason is not None and found.kind == "decision" else ()
    for step in chain[:-1]:
        if step.subject not in (found.condition or ""):
            if len(step.subject) > _LONGEST_NAME:
                return ""
            module = found.place.module.program.module(step.file)
            line = module.line_at(step.line) if module is not None and step.line else ""
            stands = re.search(rf"(?<!\w){re.escape(step.subject)}(?!\w)", line) is not None
            at = f" ({step.file}:{step.line})" if stands else ""
            return f"`{step.subject}`{at}, and thereby on "
    return ""


def _unwritten(divergence: CodeDivergence, places: SourcePlaces) -> str:
    """Where a line makes a collective that it does not name, what makes it."""
    return " ".join(
        f"The {one.op} at {one.file}:{one.line} is not written there: {one.by}."
        for one in implied_calls(divergence, places)
    )


def implied_calls(divergence: CodeDivergence, places: SourcePlaces) -> Iterator[Implied]:
    for side in (divergence.culprit, divergence.normal):
        by = _implied(side, places) if side.path and side.call is not None else ""
        if by and side.call is not None:
            inner = side.path[-1]
            name = inner.file.replace("\\", "/").rsplit("/", 1)[-1]
            yield Implied(side.call.op, name, inner.line, by)


def _implied(side: Side, places: SourcePlaces) -> str:
    """What makes the collective, where the line does not name it."""
    place = places.find(side.path[-1])
    if place is None or not place.known or side.call is None:
        return ""
    calls = calls_on(place, Stop(place.line))
    if any(_names(call, place.function, side.call.op) for call in calls):
        return ""
    for call in calls:
        words = implicit(call, place.function)
        if words:
            return words
    return ""


def _names(call: ast.Call, function: Function, op: str) -> bool:
    """Under its own name, or another that the program gives it."""
    target = resolve(function, call.func)
    return op in (called_name(call), target.dotted.rpartition(".")[2] if isinstance(target, External) else "")


def _those(side: Side, able: tuple[int, ...]) -> str:
    """Without those that the source keeps from coming there, where all were asked."""
    ranks = set(parse_ranks(side.ranks)) if side.ranks else {side.rank}
    fewer = able and len(ranks) <= MOST_ASKED and set(able) < ranks
    return _ranks(replace(side, ranks=format_ranks(sorted(able)))) if fewer else _ranks(side)


def _short(found: FoundLine) -> str:
    text = " ".join((found.condition or "").split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]
