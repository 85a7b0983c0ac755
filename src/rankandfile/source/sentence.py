"""What the code says of a verdict, in a sentence or two. No claim that the code does not support."""

from __future__ import annotations

from rankandfile.model.ranks import parse_ranks

from .arguments import called_name, calls_on
from .fork import Stop
from .found import Found
from .implied import implicit
from .parting import Parting, Side
from .place import Place, Places

_LONGEST = 160
_FROM = {
    "argument": "The argument comes from",
    "order": "The order of the calls comes from",
    "filled": "What decides there was filled, or not, upon",
}


def sentence(found: Found, places: Places) -> str:
    """Empty where there is nothing to add to what the evidence says."""
    if found.kind == "decision" and found.decision is not None and found.parting is not None:
        return " ".join(filter(None, [_decided(found), _because(found), _went_on(found.parting, places)]))
    if found.kind == "caught" and found.parting is not None:
        return " ".join(filter(None, [_caught(found), _because(found), _went_on(found.parting, places)]))
    if found.kind in _FROM:
        begins = f"{_FROM[found.kind]} `{_short(found)}` ({_at(found)})."
        return " ".join(filter(None, [begins, _because(found)]))
    if found.kind in ("raised", "exited") and found.condition:
        verb = "raises" if found.kind == "raised" else "exits"
        return " ".join(filter(None, [f"It {verb} upon `{_short(found)}` ({_at(found)}).", _because(found)]))
    if found.kind == "loading":
        return (
            f"It waits for a process of its data loader, of which no stack was taken; the only code of a dataset that "
            f"can wait is {found.place.function.name} ({_at(found)})."
        )
    if found.kind == "held" and found.condition:
        return f"It stays in `{_short(found)}` ({_at(found)})."
    return ""


def _decided(found: Found) -> str:
    assert found.decision is not None and found.parting is not None
    decision, parting = found.decision, found.parting
    condition = decision.condition
    ours, theirs = condition.here, condition.there
    if decision.fork.normal == "end":
        ours, theirs = theirs, ours
    place = f"at {_at(found)}, in {found.place.function.name}, by `{_short(found)}`"
    one, other = _ranks(parting.normal), _ranks(parting.culprit)
    ways = f"({theirs} on {other}, {ours} on {one})"
    if not parting.settled:
        return f"{_upper(one)} and {other} parted {place} {ways}."
    return f"{_upper(other)} parted from {one} {place} {ways}."


def _caught(found: Found) -> str:
    assert found.parting is not None
    upon = ""
    if found.decision is not None and found.decision.condition.kind != "except":
        where = _in_short(found.decision.place, found.decision.condition.line)
        upon = f", raised upon `{found.decision.condition.text.strip()[:_LONGEST]}` ({where}),"
    who = _ranks(found.parting.culprit)
    return f"On {who} an exception{upon} was caught at {_at(found)} by `{_short(found)}`, and the program went on."


def _because(found: Found) -> str:
    """Only what the analysis can show; a decision that it cannot judge is named without a reason."""
    if found.reason is None or found.reason.level not in ("varying", "axes") or not found.reason.sentence:
        return ""
    words = found.reason.sentence.strip()
    return "It can differ between ranks: " + words + ("" if words.endswith((".", "!", "?")) else ".")


def _went_on(parting: Parting, places: Places) -> str:
    told = [
        f"{_ranks(side)} {'is at' if side.seen else 'went on to'} {_target(side, places)}"
        for side in (parting.culprit, parting.normal)
        if side.way
    ]
    return _upper("; ".join(told)) + "." if told else ""


def _target(side: Side, places: Places) -> str:
    inner = side.way[-1]
    name = inner.file.replace("\\", "/").rsplit("/", 1)[-1]
    what = f"the {side.call.op} in " if side.call is not None else ""
    implied = _implied(side, places)
    return f"{what}{inner.function} ({name}:{inner.line}{': ' + implied if implied else ''})"


def _implied(side: Side, places: Places) -> str:
    """What makes the collective, where the line does not name it."""
    place = places.find(side.way[-1])
    if place is None or not place.known or side.call is None:
        return ""
    for call in calls_on(place, Stop(place.line)):
        words = implicit(call, place.function) if called_name(call) != side.call.op else None
        if words:
            return words
    return ""


def _ranks(side: Side) -> str:
    ranks = parse_ranks(side.ranks) if side.ranks else [side.rank]
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {side.ranks}"


def _short(found: Found) -> str:
    text = " ".join((found.condition or "").split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _at(found: Found) -> str:
    return _in_short(found.place, found.line)


def _in_short(place: Place, line: int) -> str:
    return f"{place.path.rsplit('/', 1)[-1]}:{line}"


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]
