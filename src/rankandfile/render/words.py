"""Ranks, calls and places as every output says them, and text from evidence made safe to print."""

from __future__ import annotations

import re

from msgspec import Struct

from rankandfile.model.diagnosis import Call, Cohort, Diagnosis, FlaggedBefore, Standing, Verdict, Wait
from rankandfile.model.ledger import SET_ASIDE, Evidence
from rankandfile.model.ranks import format_ranks, parse_ranks

#: A list of ranks longer than this is cut; the JSON has all of it.
MAX_RANKS = 48

#: What a terminal, a log or a page would act on instead of showing it: control characters, and those that turn
#: the direction of the text or hide in it. Line breaks go too: a quote is one line.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


class Signs(Struct, frozen=True):
    """The few symbols of the terminal, with words for those without them."""

    then: str = "▸"
    dot: str = "·"
    more: str = "…"


UNICODE = Signs()
PLAIN = Signs(then=">", dot="-", more="...")


def plain(text: str) -> str:
    """Text from evidence on one line, without anything that acts on whatever shows it."""
    return _UNSEEN.sub(" ", text)


def short(ranks: str, signs: Signs = UNICODE, most: int = MAX_RANKS) -> str:
    """A list of ranks that fits on the screen."""
    if len(ranks) <= most:
        return ranks or "none"
    kept = ranks[:most].rsplit(",", 1)[0]
    return f"{kept},{signs.more}"


def ranks_named(ranks: str, signs: Signs = UNICODE) -> str:
    """``rank 3``, ``ranks 0-2,4``."""
    return f"rank {ranks}" if ranks.isdigit() else f"ranks {short(ranks, signs)}"


def call_text(call: Call | None, group: str | None = None) -> str:
    """A call as one would say it: ``all_reduce #812 trainer.py:88``. `group`: the one that is spoken of."""
    if call is None:
        return "no call here"
    words = [call.op]
    if call.seq is not None:
        words.append(f"#{call.seq}")
    if group is not None and call.group not in (None, group):
        words.append(f"of {call.group}")
    if call.file is not None:
        words.append(place_text(base_name(call.file), call.line))
    said = " ".join(words)
    if call.detail:
        # Of a line and a number, which is which.
        said += (
            f", {call.detail}" if call.file is not None and call.detail[0].isalnum() else f" {call.detail}"
        )
    return plain(said)


def base_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def place_text(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"


def flagged_text(flagged: FlaggedBefore) -> str:
    place = place_text(flagged.file, flagged.line)
    return f"raf lint flags {place} before it is run: {flagged.severity}[{flagged.rule}]"


def cause_words(cause: str) -> str:
    return cause.replace("_", " ")


#: Lists of ranks longer than this are not taken apart.
_LONG = 4000

#: Process gone: where the rank's calls end, nothing else will come.
_GONE = {"raised", "killed", "exited", "early_exit", "peer_unreachable"}


def came_to(verdict: Verdict, cohort: Cohort) -> str:
    """What a cohort came to where the ranks diverged: its call, or how it is known not to be there."""
    divergence = verdict.divergence
    known = cohort.call is not None or not cohort.unknown
    if divergence is None or (known and (cohort.call is not None or divergence.kind != "absent")):
        return call_text(cohort.call, divergence.group if divergence else None)
    gone = verdict.cause in _GONE
    number = "it" if divergence.seq is None else f"#{divergence.seq}"
    if not known:
        return f"gone: whether it came to {number}, nothing tells" if gone else "unknown"
    return f"gone before {number}" if gone else f"never came to {number}"


def waiters(wait: Wait) -> str:
    """Those who wait, less those they wait for: who is behind by a call may sit in this one too."""
    ranks, others = wait.ranks, wait.waits_for
    if ranks == others or max(len(ranks), len(others)) > _LONG:
        return "" if ranks == others else ranks
    return format_ranks(set(parse_ranks(ranks)) - set(parse_ranks(others)))


_STATES = {"waits": "waiting: ", "stands": "", "gone": "gone: ", "unknown": "not known: "}


def standing_text(one: Standing) -> str:
    """Where its ranks are, as a sentence goes on behind their names."""
    if one.state == "waits" and one.what.startswith("in "):
        return f"{'waits' if one.ranks.isdigit() else 'wait'} {one.what}"
    return one.what if one.what.startswith("wait") else f"{_STATES[one.state]}{one.what}"


def alike_culprits(verdict: Verdict) -> list[tuple[str, str, str]]:
    """Ranks, host and what they did, of culprits or suspects: those that did the same on one host together."""
    alike: dict[tuple[str, str], list[int]] = {}
    for one in verdict.named:
        alike.setdefault((one.host or "", one.doing or ""), []).append(one.rank)
    return [
        (format_ranks(ranks), host, doing if len(ranks) == 1 else _of_several(doing))
        for (host, doing), ranks in alike.items()
    ]


def _of_several(doing: str) -> str:
    """What each of them did, said of all."""
    for one, many in (("was ", "were "), ("is ", "are ")):
        doing = f"{many}{doing.removeprefix(one)}" if doing.startswith(one) else doing
    # Where it is now comes last: an error that is quoted before that is left as it is.
    did, is_, where = doing.rpartition(", and is ")
    return f"{did}, and are {where}" if is_ else doing


def culprit_ranks(verdict: Verdict) -> str:
    return format_ranks(culprit.rank for culprit in verdict.named)


def cited(diagnosis: Diagnosis, verdict: Verdict) -> list[Evidence]:
    """The facts that a verdict rests on, in the order in which it names them."""
    facts = {one.id: one for one in diagnosis.evidence}
    return [facts[one] for one in verdict.evidence if one in facts]


def job_size(diagnosis: Diagnosis) -> str:
    """``16 ranks, 6,964 calls``: what was read, where not all is known."""
    job = diagnosis.job
    seen = len({rank for one in diagnosis.standings for rank in parse_ranks(one.ranks)})
    unknown = f"{counted(seen, 'rank')} seen" if seen else "number of ranks unknown"
    size = counted(job.world_size, "rank") if job.world_size else unknown
    unused = any(note.what.startswith(SET_ASIDE) for note in diagnosis.notes)
    nothing = "no dump used" if unused else "no dumps"
    return f"{size}, {counted(job.calls, 'call') if job.dumps or job.calls else nothing}"


def counted(count: int, one: str, many: str = "") -> str:
    """``1 rank``, ``1,024 ranks``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
