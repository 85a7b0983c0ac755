"""`deciding` names exactly the conditions whose outcome changes what is reached first, on random functions.

For conditions (if, while, for, and / or, conditional expressions, comprehensions, match, assert) the answer is exact.
For exceptions it is a justified superset: whenever raising at some step leads elsewhere than not raising, the handler
that takes it (or the step itself) is named; and a handler is only named if some exception that it takes leads elsewhere
than returning, or than another exception raised at the same step.
"""

from __future__ import annotations

import ast
import random
from contextlib import suppress

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.source import opaque_programs as op

from rankandfile.source.flow import Condition, Point, deciding
from rankandfile.source.program.modules import Program

slow = settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))


class OneFile:
    def __init__(self, text: str) -> None:
        self.text = text

    def paths(self) -> list[str]:
        return ["a.py"]

    def read(self, path: str) -> str | None:
        return self.text


def static(text: op.Text, here: int, there: int | str, after: int | None) -> list[Condition]:
    module = Program(OneFile("\n".join(text.lines) + "\n")).module("a.py")
    assert module is not None
    function = next(f for f in module.functions if f.name == "function")

    def point(mark: int) -> Point:
        return Point(text.at[mark], f"f{mark}")

    goal = point(there) if isinstance(there, int) else "return"
    return deciding(function, point(here), goal, None if after is None else point(after))


def sites(text: op.Text, condition: Condition) -> set[str]:
    """The opaque conditions that a reported one consists of."""
    if isinstance(condition.node, ast.match_case):
        lines = {line: key for key, line in text.at.items() if isinstance(key, tuple) and key[0] == "match"}
        return {f"c{lines[condition.line][1]}"}
    names = {
        n.func.id
        for n in ast.walk(condition.node)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    return {name for name in names if name[0] in "ci"}


@slow
@given(op.programs(), st.data())
def test_the_conditions_are_exactly_those_that_matter(program: op.Block, data: st.DataObject) -> None:
    start = op.begin(program)
    graph = op.everything(start)
    text = op.render(program)
    marks = sorted(key for key in text.at if isinstance(key, int))
    assume(graph and len(marks) >= 2)
    here = data.draw(st.sampled_from(marks), label="here")
    there = data.draw(st.sampled_from([m for m in marks if m != here] + ["return"]), label="there")
    after = data.draw(st.none() | st.sampled_from(marks), label="after")
    truth = op.decided(graph, start, here, there, after)
    found = static(text, here, there, after)

    conditions = set().union(*(sites(text, c) for c in found if c.kind not in ("except", "with", "call")))
    assert conditions == truth.conditions, "\n".join(text.lines)

    named = {(c.kind, c.line) for c in found if c.kind in ("except", "with")}
    calls = {c.node.func.id for c in found if isinstance(c.node, ast.Call) and c.kind == "call"}
    for raised in truth.raised:
        place = raised.landed and (raised.landed[0], text.at[raised.landed])
        if raised.decides:
            others = {
                r.landed and (r.landed[0], text.at[r.landed]) for r in truth.raised if r.site == raised.site
            }
            step = raised.site.replace("made", "i")  # what is looped over is made by a call of that name
            assert named & others or step in calls or place is None, "\n".join(text.lines)
    justified = {
        (r.landed[0], text.at[r.landed]) for r in truth.raised if r.landed and (r.decides or r.differs)
    }
    assert named <= justified, "\n".join(text.lines)


@slow
@given(op.programs(), st.integers(0, 2**32))
def test_the_oracle_does_what_python_does(program: op.Block, seed: int) -> None:
    """The same choices, made by the machine and by Python, reach the same marks in the same order."""
    text = op.render(program)
    by_machine = run_machine(program, random.Random(seed))
    assert run_python(text, random.Random(seed)) == by_machine, "\n".join(text.lines)


MOST_CHOICES = 60


def run_machine(program: op.Block, chance: random.Random) -> list[int]:
    config, marks, left = op.begin(program), [], MOST_CHOICES
    while (now := op.step(config)) is not None:
        if now.mark is not None:
            marks.append(now.mark)
        if now.site is None:
            config = now.outcomes[""]
            continue
        if not (left := left - 1):
            break
        config = now.outcomes[chosen(chance, now.site)]
    return marks


def chosen(chance: random.Random, site: str) -> str:
    calm = ["true", "false"] if site[0] in "ci" else ["returned"]
    return chance.choice(calm * 6 + list(op.RAISES))


class TooLong(BaseException):
    pass


def run_python(text: op.Text, chance: random.Random) -> list[int]:
    scope: dict[str, object] = {}
    exec(compile("\n".join(text.lines), "a.py", "exec"), scope)
    left, marks = MOST_CHOICES, []

    def choose(site: str) -> str:
        nonlocal left
        if left <= 0 or not (left := left - 1):
            left = 0
            raise TooLong
        outcome = chosen(chance, site)
        if outcome in op.RAISES:
            raise scope[outcome]  # type: ignore[misc]
        return outcome

    class Items:
        def __init__(self, site: str) -> None:
            self.site = site
            choose("made" + site[1:])

        def __iter__(self) -> Items:
            return self

        def __next__(self) -> int:
            if choose(self.site) == "false":
                raise StopIteration
            return 0

    real = scope["suppress"]

    def suppressing(error: type[BaseException]) -> object:
        choose("suppress")
        return real(error)  # type: ignore[operator]

    def mark(number: int) -> None:
        if left > 0:
            marks.append(number)
        choose(f"f{number}")

    for name in {n.id for n in ast.walk(ast.parse("\n".join(text.lines))) if isinstance(n, ast.Name)}:
        if name[0] in "cfi" and name[1:].isdigit():
            number = int(name[1:])
            scope[name] = {
                "c": lambda site=name: choose(site) == "true",
                "f": lambda number=number: mark(number),
                "i": lambda site=name: Items(site),
            }[name[0]]
    scope["suppress"] = suppressing
    with suppress(TooLong, Exception):
        scope["function"]()  # type: ignore[operator]
    return marks
