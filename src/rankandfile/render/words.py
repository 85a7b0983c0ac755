"""Ranks, calls and places as every output says them, and text from evidence made safe to print."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rankandfile.model.diagnosis import Call, Diagnosis, Verdict
from rankandfile.model.ranks import format_ranks

#: A list of ranks longer than this is cut; the JSON has all of it.
MAX_RANKS = 48

#: What a terminal, a log or a page would act on instead of showing it: control characters, and those that turn
#: the direction of the text or hide in it. Line breaks go too: a quote is one line.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


@dataclass(frozen=True)
class Signs:
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


def call_text(call: Call | None) -> str:
    """A call as one would say it: ``all_reduce #812 trainer.py:88``."""
    if call is None:
        return "no call here"
    words = [call.op]
    if call.seq is not None:
        words.append(f"#{call.seq}")
    if call.file is not None:
        words.append(place_text(base_name(call.file), call.line))
    if call.detail:
        words.append(call.detail)
    return plain(" ".join(words))


def base_name(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def place_text(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"


def cause_words(cause: str) -> str:
    return cause.replace("_", " ")


def headline(verdict: Verdict, signs: Signs = UNICODE) -> str:
    """The answer in a few words, in capitals."""
    if verdict.cause == "no_hang":
        return "NO HANG"
    if verdict.culprits and verdict.cause == "undetermined":
        # Who is settled, what it did instead is not: say what is known first.
        who = short(culprit_ranks(verdict), signs)
        return f"{'RANKS' if len(verdict.culprits) > 1 else 'RANK'} {who} DID NOT JOIN, cause open"
    if not verdict.hang or verdict.cause == "undetermined":
        return "UNDETERMINED"
    return cause_words(verdict.cause).upper()


def culprit_ranks(verdict: Verdict) -> str:
    return format_ranks(culprit.rank for culprit in verdict.culprits)


def job_size(diagnosis: Diagnosis) -> str:
    """``16 ranks, 6,964 calls``: what was read, where not all is known."""
    job = diagnosis.job
    size = counted(job.world_size, "rank") if job.world_size else "number of ranks unknown"
    return f"{size}, {counted(job.calls, 'call') if job.dumps or job.calls else 'no dumps'}"


def counted(count: int, one: str, many: str = "") -> str:
    """``1 rank``, ``1,024 ranks``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
