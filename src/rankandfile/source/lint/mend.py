"""Changes for findings: each made by the patterns of `raf fix`, and proved by asking the rules about what comes of it.

In: the program's files, what was found, and which of it is to be mended. Out: for each of these the change or why there
is none, and the changed files. A change counts as proved where its finding is gone, no other one has come, of whatever
severity, and the file is Python still.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from rankandfile.model.lint import Change, Flagged
from rankandfile.source.files.text import decode
from rankandfile.source.files.tree import SourceTree
from rankandfile.source.program.modules import Files, parsed
from rankandfile.source.remedies import Patch, Problem, Site, patches
from rankandfile.source.remedies.restore import NotTheSame, patched_bytes

Ask = Callable[[Files], Sequence[Flagged]]
"""All that the rules say of a program, in order, by its own paths."""
_RANKS = 16
"""Of the job that is thought of, where a patch asks who comes to a place."""
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+(?:mpi4py|horovod|jax|torch_xla)\b", re.MULTILINE)
_ANOTHER = "changes are known for torch.distributed only, and this program has another way to talk"
_NOTHING = "no known change fixes such a place"
_STILL_THERE = "the change that is known for such a place was tried, and leaves something to be found"


class ChangedFiles(Struct, frozen=True):
    """A tree of which some files have other bytes."""

    tree: SourceTree
    data: dict[str, bytes]

    def paths(self) -> Iterable[str]:
        return self.tree.paths()

    def read(self, path: str) -> str | None:
        return decode(self.data[path]) if path in self.data else self.tree.read(path)

    def bytes_of(self, path: str) -> bytes:
        return self.data[path] if path in self.data else self.tree.data(path) or b""

    def having(self, patched: Iterable[Patch]) -> ChangedFiles:
        """With patches of different files in it. Raises `NotTheSame`, and `UnicodeEncodeError`."""
        new = {patch.path: patched_bytes(patch, self.bytes_of(patch.path)) for patch in patched}
        return ChangedFiles(self.tree, {**self.data, **new})


class Mended(Struct):
    """What came of it."""

    files: ChangedFiles
    answers: dict[int, Change | str] = field(default_factory=dict)
    """By the finding's place among those that were found."""
    gone: Counter[str] = field(default_factory=Counter)
    """File -> findings that are no longer there."""


class _Open(Struct):
    """A finding that is not answered yet."""

    number: int
    flagged: Flagged
    nth: int
    """Among those of the same fingerprint, from the top of the file."""
    tried: set[str] = field(default_factory=set)
    why: str = ""


def mend(
    tree: SourceTree,
    found: Sequence[Flagged],
    wanted: Callable[[Flagged], bool],
    ask: Ask,
    cause_of: Callable[[str], str],
    inside: frozenset[str],
    plain: bool = False,
    unsafe: bool = False,
) -> Mended:
    """Each finding is answered; what is safe is in the files afterwards, or all of it where that is asked for.

    From the bottom of each file upwards, so that what is to come stays where it is; one change a file and round.
    """
    result = Mended(ChangedFiles(tree, {}))
    waiting = _waiting(found, wanted)
    now = found
    while any(waiting.values()):
        keep: list[tuple[_Open, Patch]] = []
        show: list[tuple[_Open, Patch]] = []
        taken: set[str] = set()
        for queue in waiting.values():
            offer = _next(queue, result, now, cause_of, inside, plain)
            if offer is None:
                continue
            if offer[1].path in taken:
                offer[0].tried.discard(offer[1].after)
                continue
            taken.add(offer[1].path)
            (show if offer[1].decide and not unsafe else keep).append(offer)
        for offers, kept in ((keep, True), (show, False)):
            for proved in _proved(offers, result.files, now, ask):
                for each, patch in proved.offers:
                    queue = waiting[each.flagged.file]
                    queue.remove(each)
                    result.answers[each.number] = _change(patch)
                    if kept:
                        result.gone[patch.path] += 1
                if kept:
                    result.files, now = proved.files, proved.found
    return result


def _waiting(found: Sequence[Flagged], wanted: Callable[[Flagged], bool]) -> dict[str, list[_Open]]:
    """File -> its findings that are to be mended, the last one in the file at the end."""
    seen: Counter[str] = Counter()
    waiting: dict[str, list[_Open]] = {}
    for number, flagged in enumerate(found):
        if wanted(flagged):
            waiting.setdefault(flagged.file, []).append(_Open(number, flagged, seen[flagged.fingerprint]))
        seen[flagged.fingerprint] += 1
    return waiting


def _next(
    queue: list[_Open],
    result: Mended,
    now: Sequence[Flagged],
    cause_of: Callable[[str], str],
    inside: frozenset[str],
    plain: bool,
) -> tuple[_Open, Patch] | None:
    """The next patch to try in a file; findings for which there is none leave the queue with the reason."""
    while queue:
        each = queue[-1]
        alike = [one for one in now if one.fingerprint == each.flagged.fingerprint]
        if each.nth >= len(alike):
            result.answers[each.number] = (
                "a change of this file that is offered for another finding fixes it too"
            )
            queue.pop()
            continue
        if _another_library(each.flagged, result.files):
            result.answers[each.number] = _ANOTHER
            queue.pop()
            continue
        problem = _problem(alike[each.nth], cause_of(each.flagged.rule))
        for answer in patches(problem, result.files, plain):
            if not isinstance(answer, Patch):
                each.why = each.why or (answer.words if answer.pattern else "")
            elif answer.after not in each.tried:
                each.tried.add(answer.after)
                if answer.path in inside:
                    return each, answer
                each.why = f"the place to change is {answer.path}, which was not asked about"
        result.answers[each.number] = each.why or (_STILL_THERE if each.tried else _NOTHING)
        queue.pop()
    return None


def _problem(flagged: Flagged, cause: str) -> Problem:
    here = (Site((), "", flagged.file, flagged.line, flagged.function),) if cause == "root_mismatch" else ()
    return Problem(
        cause=cause, file=flagged.file, line=flagged.line, function=flagged.function, sites=here, world=_RANKS
    )


def _another_library(flagged: Flagged, files: ChangedFiles) -> bool:
    """What changes write is torch's: it says nothing to ranks that talk to each other by other means."""
    texts = (files.read(file) or "" for file in {flagged.file, *(told.file for told in flagged.story)})
    return any(_IMPORTED.search(text) for text in texts)


class _Proof(Struct, frozen=True):
    offers: list[tuple[_Open, Patch]]
    files: ChangedFiles
    found: Sequence[Flagged]


def _proved(
    offers: list[tuple[_Open, Patch]], files: ChangedFiles, now: Sequence[Flagged], ask: Ask
) -> list[_Proof]:
    """All of them at once, as mostly all hold; else one after the other, each upon those before it."""
    if not offers:
        return []
    whole = _proof(offers, files, now, ask)
    if whole is not None or len(offers) == 1:
        return [whole] if whole is not None else []
    found: list[_Proof] = []
    for offer in offers:
        one = _proof([offer], files, now, ask)
        if one is not None:
            found.append(one)
            files, now = one.files, one.found
    return found


def _proof(
    offers: list[tuple[_Open, Patch]], files: ChangedFiles, now: Sequence[Flagged], ask: Ask
) -> _Proof | None:
    try:
        changed = files.having(patch for _, patch in offers)
    except (NotTheSame, UnicodeEncodeError):
        return None
    if any(parsed(changed.read(patch.path) or "(") is None for _, patch in offers):
        return None
    found = ask(changed)
    before, after = Counter(f.fingerprint for f in now), Counter(f.fingerprint for f in found)
    gone = Counter(each.flagged.fingerprint for each, _ in offers)
    if after - before or any(after[one] > before[one] - number for one, number in gone.items()):
        return None
    return _Proof(offers, changed, found)


def _change(patch: Patch) -> Change:
    return Change(title=patch.title, words=patch.text, diff=patch.diff, decide=patch.decide)
