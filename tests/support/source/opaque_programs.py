"""Small random functions whose conditions are opaque: as Python text, as something to run, and as an exact oracle.

A program is a tree of tuples. `render` writes it as Python. `Machine` runs it by the rules of the language reference,
on explicit continuations, so that everything that can happen is a finite graph: what can be reached first from anywhere
is then computed exactly, with no code in common with the package. That the machine does what Python does is a test of
its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

RAISES = ("E1", "E2", "E3", "Other")
HEADER = "from contextlib import suppress\n" + "".join(f"class {e}(Exception): pass\n" for e in RAISES)

Block = tuple[Any, ...]


@dataclass
class Numbers:
    """Every condition, iterator and mark gets a number of its own."""

    last: int = 0

    def new(self) -> int:
        self.last += 1
        return self.last


@st.composite
def programs(draw: st.DrawFn) -> Block:
    numbers = Numbers()
    return draw_block(draw, numbers, depth=0, in_loop=False, size=4)


def draw_block(draw: st.DrawFn, n: Numbers, depth: int, in_loop: bool, size: int) -> Block:
    length = draw(st.integers(1, size))
    return tuple(draw_statement(draw, n, depth, in_loop) for _ in range(length))


def draw_statement(draw: st.DrawFn, n: Numbers, depth: int, in_loop: bool) -> tuple[Any, ...]:
    plain = ["mark", "mark", "mark", "and", "or", "ifexp", "comp", "assert", "return", "raise"]
    nested = ["if", "if", "if_and", "while", "for", "try", "try_finally", "with", "match"]
    kinds = plain + (["break", "continue"] if in_loop else []) + (nested * 2 if depth < 3 else [])
    kind = draw(st.sampled_from(kinds))
    error = RAISES[depth]

    def block(loop: bool = in_loop, size: int = 2) -> Block:
        return draw_block(draw, n, depth + 1, loop, size)

    def maybe() -> Block:
        return block(size=1) if draw(st.booleans()) else ()

    match kind:
        case "mark":
            return ("mark", n.new())
        case "and" | "or":
            return (kind, n.new(), n.new())
        case "ifexp" | "comp":
            return (kind, n.new(), n.new(), n.new())
        case "assert":
            return ("assert", n.new())
        case "return" | "break" | "continue":
            return (kind,)
        case "raise":
            return ("raise", draw(st.sampled_from(RAISES)))
        case "if" | "match":
            return (kind, n.new(), block(), maybe() if kind == "if" else block())
        case "if_and":
            return ("if_and", n.new(), n.new(), block(), maybe())
        case "while" | "for":
            return (kind, n.new(), block(loop=True), maybe())
        case "with":
            return ("with", n.new(), error, block())
        case "try":
            caught = draw(st.sampled_from([error, "Exception"]))
            handlers = ((caught, block()),)
            return ("try", n.new(), block(), handlers, maybe(), maybe())
        case _:
            return ("try", n.new(), block(), (), (), block())


# --- as Python


@dataclass
class Text:
    lines: list[str] = field(default_factory=HEADER.splitlines)
    at: dict[Any, int] = field(default_factory=dict)
    """Mark, handler, `with` or `case` -> its line."""

    def add(self, indent: int, code: str, *keys: Any) -> None:
        self.lines.append("    " * indent + code)
        for key in keys:
            self.at[key] = len(self.lines)


def render(program: Block) -> Text:
    text = Text()
    text.add(0, "def function():")
    render_block(text, program, 1)
    return text


def render_block(text: Text, block: Block, indent: int) -> None:
    for statement in block:
        render_statement(text, statement, indent)


def render_statement(text: Text, s: Any, i: int) -> None:
    def inside(header: str, block: Block, *keys: Any) -> None:
        text.add(i, header, *keys)
        render_block(text, block, i + 1)

    match s:
        case ("mark", m):
            text.add(i, f"f{m}()", m)
        case ("and" | "or" as word, c, m):
            text.add(i, f"x = c{c}() {word} f{m}()", m)
        case ("ifexp", c, m, other):
            text.add(i, f"x = f{m}() if c{c}() else f{other}()", m, other)
        case ("comp", it, c, m):
            text.add(i, f"x = [f{m}() for _ in i{it}() if c{c}()]", m)
        case ("assert", c):
            text.add(i, f"assert c{c}()")
        case ("return" | "break" | "continue" as word,):
            text.add(i, word)
        case ("raise", error):
            text.add(i, f"raise {error}")
        case ("if", c, then, other):
            inside(f"if c{c}():", then)
            if other:
                inside("else:", other)
        case ("if_and", c, d, then, other):
            inside(f"if c{c}() and c{d}():", then)
            if other:
                inside("else:", other)
        case ("match", c, then, other):
            text.add(i, f"match c{c}():")
            text.add(i + 1, "case True:", ("match", c))
            render_block(text, then, i + 2)
            text.add(i + 1, "case _:")
            render_block(text, other, i + 2)
        case ("while" | "for" as word, c, body, other):
            inside(f"while c{c}():" if word == "while" else f"for _ in i{c}():", body)
            if other:
                inside("else:", other)
        case ("with", number, error, body):
            inside(f"with suppress({error}):", body, ("with", number))
        case ("try", number, body, handlers, orelse, final):
            inside("try:", body)
            for caught, block in handlers:
                inside(f"except {caught}:", block, ("except", number))
            if orelse:
                inside("else:", orelse)
            if final:
                inside("finally:", final)
        case _:
            raise AssertionError(s)


# --- as a machine

Config = tuple[Any, ...]
END: Config = ("end",)


@dataclass
class Step:
    """What can happen next: one way, or one per outcome. `landed`: the handler that an exception was caught by."""

    site: str | None
    outcomes: dict[str, Config]
    landed: dict[str, tuple[str, int]] = field(default_factory=dict)
    mark: int | None = None


def begin(program: Block) -> Config:
    return ("stmts", program, END)


def step(config: Config) -> Step | None:
    """None at an exit."""
    match config:
        case ("exit", _how):
            return None
        case ("stmts", (), k):
            return one(resume(k))
        case ("stmts", (first, *rest), k):
            return one(execute(first, ("seq", tuple(rest), k)))
        case ("call", m, k):
            return choice(f"f{m}", {"returned": resume(k)}, k, mark=m)
        case ("enter", number, error, body, k):
            return choice("suppress", {"returned": ("stmts", body, ("with", number, error, k))}, k)
        case ("test", c, then, other, k):
            return choice(f"c{c}", {"true": then, "false": other}, k)
        case ("made", it, then, k):
            return choice(f"made{it}", {"returned": then}, k)
        case ("next", it, then, other, k):
            return choice(f"i{it}", {"true": then, "false": other}, k)
    raise AssertionError(config)


def one(config: Config) -> Step:
    return Step(None, {"": config})


def choice(site: str, outcomes: dict[str, Config], k: Config, mark: int | None = None) -> Step:
    made = Step(site, dict(outcomes), mark=mark)
    for error in RAISES:
        made.outcomes[error], landed = unwind(("raise", error), k)
        if landed:
            made.landed[error] = landed
    return made


def execute(s: Any, k: Config) -> Config:
    match s:
        case ("mark", m):
            return ("call", m, k)
        case ("and", c, m):
            return ("test", c, ("call", m, k), resume(k), k)
        case ("or", c, m):
            return ("test", c, resume(k), ("call", m, k), k)
        case ("ifexp", c, m, other):
            return ("test", c, ("call", m, k), ("call", other, k), k)
        case ("comp", it, c, m):
            return ("made", it, resume(("comp", it, c, m, k)), k)
        case ("assert", c):
            return ("test", c, resume(k), unwind(("raise", "AssertionError"), k)[0], k)
        case ("return" | "break" | "continue" as word,):
            return unwind((word,), k)[0]
        case ("raise", error):
            return unwind(("raise", error), k)[0]
        case ("if" | "match", c, then, other):
            return ("test", c, ("stmts", then, k), ("stmts", other, k), k)
        case ("if_and", c, d, then, other):
            no = ("stmts", other, k)
            return ("test", c, ("test", d, ("stmts", then, k), no, k), no, k)
        case ("while", _c, _body, _other):
            return resume(("loop", s, k))
        case ("for", it, _body, _other):
            return ("made", it, resume(("loop", s, k)), k)
        case ("with", number, error, body):
            return ("enter", number, error, body, k)
        case ("try", _number, body, _handlers, _orelse, _final):
            return ("stmts", body, ("body", s, k))
    raise AssertionError(s)


def resume(k: Config) -> Config:
    """What comes after a normal end."""
    match k:
        case ("end",):
            return ("exit", "return")
        case ("seq", rest, outer):
            return ("stmts", rest, outer)
        case ("loop", ("while", c, body, other), outer):
            return ("test", c, ("stmts", body, k), ("stmts", other, outer), outer)
        case ("loop", ("for", it, body, other), outer):
            return ("next", it, ("stmts", body, k), ("stmts", other, outer), outer)
        case ("comp", it, c, m, outer):
            again = ("again", k)
            dropped = ("stmts", (), again)
            return ("next", it, ("test", c, ("call", m, again), dropped, outer), ("stmts", (), outer), outer)
        case ("again", loop):
            return resume(loop)
        case ("with", _number, _error, outer):
            return resume(outer)
        case ("body", ("try", _n, _b, _h, orelse, _f) as s, outer):
            return ("stmts", orelse, ("late", s, outer))
        case ("late", ("try", _n, _b, _h, _o, final), outer):
            return ("stmts", final, ("after", None, outer))
        case ("after", None, outer):
            return resume(outer)
        case ("after", signal, outer):
            return unwind(signal, outer)[0]
    raise AssertionError(k)


def unwind(signal: tuple[str, ...], k: Config) -> tuple[Config, tuple[str, int] | None]:
    """What comes after a break, continue, return or exception, and the handler that takes it, if one does at once."""
    match k:
        case ("end",):
            return ("exit", signal[0]), None
        case ("loop", _s, outer) if signal[0] == "break":
            return resume(outer), None
        case ("loop", _s, _outer) if signal[0] == "continue":
            return resume(k), None
        case ("again", ("comp", _it, _c, _m, outer)):
            return unwind(signal, outer)
        case ("with", number, error, outer) if signal == ("raise", error):
            return resume(outer), ("with", number)
        case ("body", ("try", number, _b, handlers, _o, final) as s, outer):
            for caught, block in handlers:
                if signal[0] == "raise" and caught in (signal[1], "Exception"):
                    return ("stmts", block, ("late", s, outer)), ("except", number)
            return _finally(final, signal, outer)
        case ("late", ("try", _n, _b, _h, _o, final), outer):
            return _finally(final, signal, outer)
        case ("seq" | "loop" | "with" | "after", *_rest, outer):
            return unwind(signal, outer)
    raise AssertionError(k)


def _finally(final: Block, signal: tuple[str, ...], outer: Config) -> tuple[Config, tuple[str, int] | None]:
    if not final:
        return unwind(signal, outer)
    return ("stmts", final, ("after", signal, outer)), unwind(signal, outer)[1]


# --- the oracle


def everything(start: Config, limit: int = 1200) -> dict[Config, Step | None]:
    """Every configuration that can be reached; empty if there are too many."""
    seen: dict[Config, Step | None] = {start: step(start)}
    stack = [start]
    while stack:
        now = seen[stack.pop()]
        for following in now.outcomes.values() if now else ():
            if following not in seen:
                seen[following] = step(following)
                stack.append(following)
                if len(seen) > limit:
                    return {}
    return seen


def first(graph: dict[Config, Step | None], here: int, there: int | str) -> dict[Config, frozenset[str]]:
    """For every configuration which of the two can be reached first."""
    reached = {config: frozenset([end]) if (end := is_goal(config, now, here, there)) else frozenset()
               for config, now in graph.items()}  # fmt: skip
    changed = True
    while changed:
        changed = False
        for config, now in graph.items():
            if now is None or is_goal(config, now, here, there):
                continue
            joined = frozenset().union(*(reached[c] for c in now.outcomes.values()))
            if joined != reached[config]:
                reached[config], changed = joined, True
    return reached


def is_goal(config: Config, now: Step | None, here: int, there: int | str) -> str | None:
    if now is not None and now.mark is not None:
        return "here" if now.mark == here else "there" if now.mark == there else None
    return "there" if config == ("exit", there) else None


@dataclass(frozen=True)
class Raised:
    """A step that can raise, and where: the handler, or None if the exception leaves the function."""

    site: str
    landed: tuple[str, int] | None
    decides: bool
    """Whether raising leads somewhere that not raising does not."""
    differs: bool
    """Or somewhere that another exception, raised there, does not."""


@dataclass
class Decided:
    conditions: set[str]
    raised: set[Raised]


def decided(
    graph: dict[Config, Step | None], start: Config, here: int, there: int | str, after: int | None
) -> Decided:
    """The decisions that matter between the two."""
    reached = first(graph, here, there)
    found = Decided(set(), set())
    for config in _on_the_way(graph, start, here, there, after):
        now = graph[config]
        if now is None or now.site is None:
            continue
        calm = frozenset().union(*(reached[c] for o, c in now.outcomes.items() if o not in RAISES))
        if "true" in now.outcomes and _apart(reached[now.outcomes["true"]], reached[now.outcomes["false"]]):
            found.conditions.add(now.site)
        for error in RAISES:
            ways = [reached[now.outcomes[other]] for other in RAISES]
            mine = reached[now.outcomes[error]]
            differs = any(_apart(mine, other) for other in ways)
            found.raised.add(Raised(now.site, now.landed.get(error), _apart(mine, calm), differs))
    return found


def _apart(one_: frozenset[str], other: frozenset[str]) -> bool:
    crossed = ("here" in one_ and "there" in other) or ("there" in one_ and "here" in other)
    return one_ != other and crossed


def _on_the_way(
    graph: dict[Config, Step | None], start: Config, here: int, there: int | str, after: int | None
) -> Iterator[Config]:
    starts = [start]
    if after is not None:
        marks = [now for now in graph.values() if now is not None and now.mark == after]
        starts = [now.outcomes["returned"] for now in marks]
    seen: set[Config] = set()
    stack = [c for c in starts if not is_goal(c, graph[c], here, there)]
    while stack:
        config = stack.pop()
        if config in seen:
            continue
        seen.add(config)
        yield config
        now = graph[config]
        ways = now.outcomes.values() if now else ()
        stack.extend(c for c in ways if not is_goal(c, graph[c], here, there))
