"""A problem in, what the fix patterns have to say of it out: patches, and why there is none."""

from __future__ import annotations

from rankandfile import listing
from rankandfile.source.program.modules import Files, Function

from .code import Code
from .edit import CannotEdit
from .patch import Patch, Refusal
from .pattern import Pattern, finished
from .place_to_mend import PlaceToMend, place_of
from .problem import Problem

#: Methods that an operator calls, as `table[side]` and `side in table` do: from where, no call in the program shows.
_ASKED_BY_ANYBODY = frozenset(
    ("__getitem__", "__contains__", "__missing__", "__getattr__", "__len__", "__bool__")
)
#: From such a method down to the function of the decision.
_DEEPEST = 3


def patterns() -> list[Pattern]:
    """The fix patterns in order: the particular ones first, as each knows more of its place than those behind it."""
    return listing.members(f"{__package__}.patterns", "PATTERN", Pattern)


def patches(problem: Problem, files: Files | Code, plain: bool = False) -> list[Patch | Refusal]:
    """What every pattern that serves the cause has to say of the place, patches first."""
    code = files if isinstance(files, Code) else Code(files)
    place = place_of(problem, code)
    if place is None:
        return [Refusal("", f"the source shows no decision at {problem.file}:{problem.line}")]
    if problem.guessed:
        # No pattern's matter, and nothing to be done by hand either: first it has to be known.
        return [
            Refusal(
                "",
                f"no call was recorded, and who went wrong at line {problem.line}, or in what way, stacks and logs "
                "alone do not tell: a change there may hang in another place. Confirm it first, by a probe or by "
                "dumps.",
            )
        ]
    found = [
        answer
        for pattern in patterns()
        if problem.cause in pattern.causes
        if (answer := tried(pattern, place, plain))
    ]
    return sorted(found, key=lambda answer: isinstance(answer, Refusal))


def patched(problem: Problem, files: Files | Code, plain: bool = False) -> Patch | Refusal:
    """The patch for a problem, or why there is none."""
    found = patches(problem, files, plain)
    return found[0] if found else Refusal("", f"no pattern fixes {problem.cause} at such a place")


def tried(pattern: Pattern, place: PlaceToMend, plain: bool) -> Patch | Refusal | None:
    """What one pattern has to say of a place; none where it has nothing, or nothing to change."""
    try:
        draft = pattern.make(place, plain)
        if draft is None or isinstance(draft, Refusal):
            return draft
        if pattern.meets and place.problem.others_unseen and not place.called_in_sight():
            return Refusal(
                pattern.name,
                f"nothing shows that all ranks come to line {place.problem.line}, and who does not would not answer a "
                "vote there: decide where all of them pass.",
            )
        if pattern.meets and place.problem.unexplained:
            return Refusal(
                pattern.name,
                f"why line {place.problem.line} would come out differently on two ranks was not found: an agreement "
                "there may fix nothing. Find out first what differs; a probe tells whether it is this.",
            )
        asked = _asked_by_anybody(place, place.in_program) if pattern.meets else None
        if asked is not None:
            return Refusal(
                pattern.name,
                f"{asked} is asked by whoever has the object, on one rank as on all, and who does not "
                f"ask would not answer a vote at line {place.problem.line}. Decide where all ranks ask.",
            )
        away = place.kept_away() if pattern.meets else None
        if away is not None:
            return Refusal(
                pattern.name,
                f"not all ranks come to line {place.problem.line}: {away} keeps some away "
                "by what each is in the job, and they would not answer a vote there. Decide above that test.",
            )
        unlike = place.unlike_rounds() if pattern.meets else None
        if unlike is not None:
            return Refusal(
                pattern.name,
                f"the ranks go round {unlike}, some perhaps more often than others, and who is "
                f"through would not answer a vote at line {place.problem.line}. Agree on the number of rounds before "
                "it.",
            )
        patch = finished(pattern, draft)
    except CannotEdit as error:
        return Refusal(pattern.name, str(error))
    except RecursionError:
        return Refusal(pattern.name, "the code is nested too deeply to be edited")
    return patch if patch.before != patch.after else None


def _asked_by_anybody(place: PlaceToMend, function: Function, depth: int = _DEEPEST) -> str | None:
    """Such a method by which one comes to the decision: the function itself, or one that calls it."""
    if function.name in _ASKED_BY_ANYBODY:
        return function.name
    callers = (caller for caller, _ in place.answers.callers(function)) if depth else ()
    return next(filter(None, (_asked_by_anybody(place, one, depth - 1) for one in callers)), None)
