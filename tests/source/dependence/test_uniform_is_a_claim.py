"""That all ranks have the same is a claim, too: what Python does without a word is looked at before it is made."""

from __future__ import annotations

import pytest
from support.source.levels import level

_HEAD = """
import collections, enum, functools, itertools, typing
import torch
import torch.distributed as dist
from dataclasses import dataclass
def own():
    return open(f"part{dist.get_rank()}").read().count("x")
"""

#: Of these nothing says that the ranks have the same.
UNLIKE = {
    "how often two tests of a round let it come to a yield": """
def items():
    for i in range(30):
        if i % 3 == dist.get_rank():
            if i % 7 > 2:
                yield i
def main():
    for _ in items():
        dist.barrier()
""",
    "what a method is given that the program calls itself, and no framework": """
from transformers import TrainerCallback
class Row:
    def __init__(self): self.global_step = own()
class Watch(TrainerCallback):
    def on_step_end(self, args, state, control, **kwargs):
        self.on_row(args, Row())
    def on_row(self, whole, row):
        if row.global_step > 3:
            dist.barrier()
""",
    "what is counted into a tensor in place": """
class Tally:
    def __init__(self): self.support = torch.zeros(4)
    def add(self, wanted): self.support.scatter_add_(0, wanted, torch.ones_like(wanted))
    def observed(self): return self.support.nonzero().flatten().tolist()
def main():
    tally = Tally()
    tally.add(torch.tensor([own()]))
    for _ in tally.observed():
        dist.barrier()
""",
    "a flag that two tests of a round set, and which leaves the loop": """
def main():
    found = False
    for i in range(30):
        if i % 3 != dist.get_rank():
            continue
        if i % 7 > 5:
            found = True
            break
    if found:
        dist.barrier()
""",
    "how much was put in where both parts of a test hold": """
class Kept:
    def __init__(self): self.rows = []
    def go(self):
        for i in range(30):
            if i % 3 == dist.get_rank() and i % 7 > 2:
                self.rows.append(i)
    def end(self):
        if len(self.rows) > 4:
            dist.barrier()
def main():
    kept = Kept(); kept.go(); kept.end()
""",
    "what one value of a dictionary that is gone over is made of": """
def main():
    opened = {name: iter(source) for name, source in {"a": range(own())}.items()}
    over = False
    try:
        next(opened["a"])
    except StopIteration:
        over = True
    if over:
        dist.barrier()
""",
    "a field that one of several parts was given to, spread out": """
class Batch(typing.NamedTuple):
    rows: object
    night: object
def main(rows, night):
    mine = Batch(*(part[dist.get_rank() :: 4] for part in (rows, night)))
    if mine.night.any():
        dist.barrier()
""",
    "a field of the one of several objects that is the rank's": """
@dataclass
class Drive:
    name: str
    lights: int
DRIVES = [Drive("harbour", 3), Drive("market", 2)]
def of(epoch):
    return [DRIVES[(epoch + k) % 2] for k in range(4)]
def main():
    drive = of(1)[dist.get_rank()]
    if drive.lights > 2:
        dist.barrier()
""",
    "what came by a message": """
def main():
    n = torch.zeros(1)
    dist.recv(n, src=0)
    if n.item() > 3:
        dist.barrier()
""",
    "a list of what came by a message": """
def sizes():
    n = torch.zeros(1)
    dist.recv(n, src=0)
    found = torch.zeros(int(n))
    dist.recv(found, src=0)
    return found.tolist()
def main():
    for k in sizes():
        dist.barrier()
""",
    "its own share of what one rank hands out": """
def main():
    mine = torch.zeros(4)
    dist.scatter(mine, list(torch.zeros(16).chunk(4)) if dist.get_rank() == 0 else None)
    if mine.sum() > 3:
        dist.barrier()
""",
    "the number of the last round of a rank's own many": """
def main():
    i = 0
    for i in range(own()):
        print(i)
    if i > 4:
        dist.barrier()
""",
    "what was made of the number of the last round": """
def main():
    last = 0
    for i in range(own()):
        last = i * 2
    if last > 4:
        dist.barrier()
""",
    "the number of a round that begins at a rank's own": """
def main():
    for i in range(own(), 9):
        if i % 5 == 4:
            dist.barrier()
""",
    "an object that says itself whether it is true": """
class Budget:
    def __init__(self): self.left = own()
    def __bool__(self): return self.left > 3
def main():
    b = Budget()
    if b:
        dist.barrier()
""",
    "an object that says how long it is": """
class Bag:
    def __init__(self): self.items = []
    def add(self, x):
        if x > 3: self.items.append(x)
    def __len__(self): return len(self.items)
def main():
    b = Bag(); b.add(own())
    if b:
        dist.barrier()
""",
    "an object that compares itself": """
class V:
    def __init__(self): self.v = own()
    def __lt__(self, o): return self.v < o
def main():
    v = V()
    if v < 3:
        dist.barrier()
""",
    "an object that says what it holds": """
class V:
    def __init__(self): self.v = own()
    def __contains__(self, o): return o == self.v
def main():
    v = V()
    if 3 in v:
        dist.barrier()
""",
    "a variable of a function inside": """
def main():
    n = 0
    def see(x):
        nonlocal n
        n += x
    see(own())
    if n:
        dist.barrier()
""",
    "a function inside puts it into a table": """
def main(model):
    state = {"bad": False}
    def hook(m, i, o):
        state["bad"] = bool(o.isnan().any())
    model.register_forward_hook(hook)
    if state["bad"]:
        dist.barrier()
""",
    "a hook sets a flag upon what nobody knows": """
class T:
    def __init__(self, model):
        self.bad = False
        model.register_forward_hook(self.hook)
    def hook(self, m, i, o):
        if o.isnan().any(): self.bad = True
    def go(self):
        if self.bad:
            dist.barrier()
def main(model): T(model).go()
""",
    "a hook keeps what it has seen": """
def main(model):
    seen = []
    model.register_forward_hook(lambda m, i, o: seen.append(o) if o.isnan().any() else None)
    if seen:
        dist.barrier()
""",
    "set upon what nobody knows": """
def main(thing):
    way = 1
    if thing.anything():
        way = 2
    if way == 2:
        dist.barrier()
""",
    "an attribute of the class, by its methods": """
class T:
    n = 0
    @classmethod
    def see(cls, x):
        if x: cls.n += 1
def main():
    T.see(own())
    if T.n:
        dist.barrier()
""",
    "an attribute of the class, by its name": """
class T:
    n = 0
def see(x):
    if x: T.n += 1
def main():
    see(own())
    if T.n:
        dist.barrier()
""",
    "an attribute whose name is written out elsewhere": """
class T:
    def __init__(self): self.n = 0
def main():
    t = T()
    setattr(t, "n", own())
    if t.n:
        dist.barrier()
""",
    "an attribute whose name is not written out": """
class T:
    def __init__(self): self.n = 0
def put(t, name, v): setattr(t, name, v)
def main():
    t = T()
    put(t, "n", own())
    if t.n:
        dist.barrier()
""",
    "an attribute of a class out of a table": """
HOMES = {}
def home(cls):
    HOMES[cls.__name__] = cls
    return cls
@home
class T:
    n: bool = False
def put(where, name, v):
    cls = HOMES[where]
    setattr(cls, name, v)
def main():
    t = T()
    put("T", "n", own())
    if t.n:
        dist.barrier()
""",
    "lists in a table, filled by what a loop of another function hooks in": """
class Engine:
    def __init__(self): self.hooks = collections.defaultdict(list)
    def on(self, event, hook): self.hooks[event].append(hook)
    def busy(self):
        if self.hooks["step"]:
            dist.barrier()
class Sink:
    def attach(self, engine): engine.on("step", self)
def main():
    engine = Engine()
    for name in ("console", "file") if dist.get_rank() == 0 else ():
        Sink().attach(engine)
    engine.busy()
""",
    "a list in a table, made where it is filled": """
def main():
    kept = {}
    if own():
        kept.setdefault("a", []).append(1)
    if len(kept.get("a", [])):
        dist.barrier()
""",
    "attributes as a table": """
class T:
    def __init__(self): self.n = 0
def main():
    t = T()
    vars(t).update(n=own())
    if t.n:
        dist.barrier()
""",
    "a frozen field": """
@dataclass(frozen=True)
class C:
    n: int = 0
    def __post_init__(self): object.__setattr__(self, "n", own())
def main():
    c = C()
    if c.n:
        dist.barrier()
""",
    "an attribute that a base class stores": """
class B:
    def __init__(self): self.n = 0
    def see(self, x): self.n = x
class C(B):
    def see(self, x):
        super().see(x)
def main():
    c = C(); c.see(own())
    if c.n:
        dist.barrier()
""",
    "an attribute that a listener stores": """
class T:
    def __init__(self): self.hooks = []; self.stop = False
    def fire(self):
        for h in self.hooks: h(self)
def stopper(t):
    if own() > 3: t.stop = True
def main():
    t = T(); t.hooks.append(stopper); t.fire()
    if t.stop:
        dist.barrier()
""",
    "a property that adds to what it is set to": """
class T:
    def __init__(self): self._n = 0
    @property
    def n(self): return self._n
    @n.setter
    def n(self, v): self._n = v + own()
def main():
    t = T()
    t.n = 1
    if t.n > 3:
        dist.barrier()
""",
    "a descriptor": """
class D:
    def __get__(self, o, t): return own()
class T:
    n = D()
def main():
    t = T()
    if t.n:
        dist.barrier()
""",
    "an attribute that is deleted": """
class T:
    def __init__(self): self.n = 1
def main():
    t = T()
    if own(): del t.n
    if hasattr(t, "n"):
        dist.barrier()
""",
    "another class with another constant": """
class A: fast = True
class B: fast = False
def main():
    x = A() if own() else B()
    if x.fast:
        dist.barrier()
""",
    "another class with another method": """
class A:
    def go(self): return True
class B:
    def go(self): return False
def main():
    x = A() if own() else B()
    if x.go():
        dist.barrier()
""",
    "the name of a class": """
class A: pass
class B: pass
def main():
    x = A() if own() else B()
    if type(x).__name__ == "A":
        dist.barrier()
""",
    "is it True": """
def main():
    done = own() > 3
    if done is True:
        dist.barrier()
""",
    "a member of an enumeration": """
class K(enum.Enum):
    A = 1
    B = 2
def main():
    k = K(own())
    if k is K.A:
        dist.barrier()
""",
    "put in by a function": """
def add(xs, x):
    if x > 3: xs.append(x)
def main():
    xs = []
    add(xs, own())
    if xs:
        dist.barrier()
""",
    "put in by a function under a key": """
def note(d, k, x):
    d[k] = x
def main():
    d = {"a": 0}
    note(d, "a", own())
    if d["a"] > 3:
        dist.barrier()
""",
    "filled by a function": """
def fill(t): t.copy_(torch.tensor(own()))
def main():
    t = torch.zeros(1)
    fill(t)
    if t.item() > 3:
        dist.barrier()
""",
    "the result goes into it": """
def main():
    t = torch.zeros(1)
    torch.add(t, own(), out=t)
    if t.item() > 3:
        dist.barrier()
""",
    "the data of a tensor": """
def main():
    t = torch.zeros(1)
    t.data = torch.tensor([own()])
    if t.item():
        dist.barrier()
""",
    "a second name for a list": """
def main():
    xs = []
    ys = xs
    if own(): ys.append(1)
    if xs:
        dist.barrier()
""",
    "taken out of a queue": """
def main():
    q = collections.deque([1, 2])
    if own(): q.popleft()
    if q:
        dist.barrier()
""",
    "deleted in a loop": """
def main():
    xs = [1, 2, 3]
    while own() and xs:
        del xs[-1]
    if xs:
        dist.barrier()
""",
    "a decorator that returns something else": """
def timed(f):
    @functools.wraps(f)
    def run(*a):
        t = time.time()
        f(*a)
        return time.time() - t
    return run
@timed
def work(): return 3
def main():
    if work() > 3:
        dist.barrier()
""",
    "a filter": """
def main():
    xs = list(filter(lambda k: own() > k, range(3)))
    if len(xs) > 1:
        dist.barrier()
""",
    "mapped": """
def main():
    if sum(map(lambda k: k * own(), range(3))):
        dist.barrier()
""",
    "taken while it is so": """
def main():
    for x in itertools.takewhile(lambda k: k < own(), range(9)):
        dist.barrier()
""",
    "called until it gives that": """
def main():
    for x in iter(own, 0):
        dist.barrier()
""",
    "a counter that lives on": """
class T:
    def __init__(self): self.ids = itertools.count()
    def see(self, x):
        if x: next(self.ids)
def main():
    t = T(); t.see(own())
    if next(t.ids) > 3:
        dist.barrier()
""",
    "a counter of the class, by the object's type": """
class Box:
    n = 0
    def put(self):
        if own() > 3:
            type(self).n += 1
def main():
    b = Box(); b.put()
    if b.n > 2:
        dist.barrier()
""",
    "a counter of the class of another object": """
class Box:
    n = 0
    def put(self):
        if own() > 3: type(self).n += 1
class Trainer:
    def __init__(self): self.box = Box()
    def full(self): return type(self.box).n > 2
def main():
    t = Trainer(); t.box.put()
    if t.full():
        dist.barrier()
""",
    "a counter of the class below": """
class Base:
    n = 0
    def put(self):
        if own() > 3: type(self).n += 1
class Box(Base): pass
def main():
    b = Box(); b.put()
    if Box.n > 2:
        dist.barrier()
""",
    "a sum of the class, by the object's type": """
class Box:
    n = 0
    def put(self):
        type(self).n += own()
def main():
    b = Box(); b.put()
    if Box.n > 2:
        dist.barrier()
""",
    "a list that an object was given": """
class Box:
    def __init__(self, items): self.items = items
    def put(self):
        if own() > 3: self.items.append(1)
def main():
    items = []
    b = Box(items); b.put()
    if len(items) > 2:
        dist.barrier()
""",
    "a list of one object that another was given": """
class Reader:
    def __init__(self, sink): self.sink = sink
    def run(self):
        for i in range(own()): self.sink.append(i)
class Trainer:
    def __init__(self):
        self.queue = []
        self.reader = Reader(self.queue)
    def step(self):
        self.reader.run()
        if self.queue:
            dist.barrier()
def main():
    Trainer().step()
""",
    "a table that an object was given": """
class Reader:
    def __init__(self, sink): self.sink = sink
    def run(self):
        for i in range(own()): self.sink[i] = 1
def main():
    seen = {}
    r = Reader(seen); r.run()
    for k in seen:
        dist.barrier()
""",
    "a list that another object keeps, too": """
class A:
    def __init__(self): self.items = []
class B:
    def __init__(self, a): self.items = a.items
    def put(self):
        if own() > 3: self.items.append(1)
def main():
    a = A(); b = B(a); b.put()
    if a.items:
        dist.barrier()
""",
    "a list that a dataclass was given": """
@dataclass
class Reader:
    sink: list
    def run(self):
        for i in range(own()): self.sink.append(i)
def main():
    sink = []
    Reader(sink).run()
    if sink:
        dist.barrier()
""",
    "a list that was set by name": """
class A: pass
def main():
    items = []
    a = A(); setattr(a, "kept", items)
    if own() > 3: a.kept.append(1)
    if items:
        dist.barrier()
""",
    "a list that was set from outside": """
class A:
    def put(self):
        if own() > 3: self.kept.append(1)
def main():
    items = []
    a = A(); a.kept = items
    a.put()
    if items:
        dist.barrier()
""",
    "where a loop was left": """
def main():
    for i in range(10):
        if own() > 3: break
    if i > 4:
        dist.barrier()
""",
    "how far a loop came": """
def main():
    i = 0
    while i < 10:
        i += 1
        if own() > 3: break
    if i > 4:
        dist.barrier()
""",
    "the place of the item that was found": """
def main():
    for i, x in enumerate([1,2,3]):
        if own() > x: break
    if i > 1:
        dist.barrier()
""",
    "what was made in the last round": """
def main():
    last = 0
    for i in range(10):
        last = i * 2
        if own() > 3: break
    if last > 4:
        dist.barrier()
""",
    "where the loop inside was left": """
def main():
    for i in range(10):
        for j in range(10):
            if own() > 3: break
        if j > 4:
            dist.barrier()
""",
    "what was looked at last": """
def main():
    for i in range(10):
        if (n := i) and own() > 3: break
    if n > 4:
        dist.barrier()
""",
}
#: Words lie in a set as each process has put them.
ORDERS = {
    "the first of a set": """
def main():
    s = set(["a", "b"])
    if list(s)[0] == "a":
        dist.barrier()
""",
    "a tuple of a set": """
def main():
    names = tuple({"a", "b"})
    if names[0] == "a":
        dist.barrier()
""",
    "words of a set joined": """
def main():
    s = {"a", "b"}
    if ",".join(s) == "a,b":
        dist.barrier()
""",
    "any one of a set": """
def main():
    s = {"a", "b"}
    k = s.pop()
    if k == "a":
        dist.barrier()
""",
    "keys made of a set": """
def main():
    d = dict.fromkeys({"a", "b"})
    for k in d:
        if k == "a":
            dist.barrier()
""",
    "keys less others": """
def main(d):
    e = {"a": 1, "b": 2, "c": 3}
    for k in e.keys() - {"a"}:
        if k == "b":
            dist.barrier()
""",
    "sets one after the other": """
def main():
    a, b = {"x"}, {"y"}
    for k in [*a, *b, *(a | b)]:
        if k == "x":
            dist.barrier()
""",
}
ALIKE = {
    "how often two tests of a round come out the same everywhere": """
def items(rows):
    for i in range(30):
        if i % 3 == 1:
            if i % 7 > 2:
                yield i
def main():
    for _ in items(own()):
        dist.barrier()
""",
    "a value of a dictionary whose values are the same on all ranks": """
def main():
    for name, size in {"a": 3, "b": 4}.items():
        if size > 3:
            dist.barrier()
""",
    "a field of an object that all made alike, of several of its class": """
@dataclass
class Share:
    name: str
    rows: object
def go(share):
    if share.name == "train":
        dist.barrier()
def main(rows):
    mine = rows[dist.get_rank()]
    go(Share("train", mine))
    go(Share("valid", mine))
""",
    "the number of a round, of however many": """
def main():
    for i in range(own()):
        if i % 5 == 4:
            dist.barrier()
""",
    "an object that is true on all ranks": """
class T:
    def __init__(self): self.n = 3
    def __bool__(self): return self.n > 1
def main():
    t = T()
    if t:
        dist.barrier()
""",
    "a filter of all ranks": """
def main():
    for k in filter(lambda k: k % 2, range(9)):
        dist.barrier()
""",
    "put in by all": """
def add(xs, x): xs.append(x)
def main():
    xs = []
    for k in range(3): add(xs, k)
    if xs:
        dist.barrier()
""",
    "a decorator that only looks on": """
def logged(f):
    @functools.wraps(f)
    def run(*a, **k):
        print(f.__name__)
        return f(*a, **k)
    return run
@logged
def fine(): return True
def main():
    if fine():
        dist.barrier()
""",
    "how long the tensor is into which a message came": """
def main():
    n = torch.zeros(4)
    dist.recv(n, src=0)
    if len(n) > 3:
        dist.barrier()
""",
    "what came by a message and was reduced since": """
def main():
    n = torch.zeros(1)
    dist.recv(n, src=0)
    dist.all_reduce(n)
    if n.item() > 3:
        dist.barrier()
""",
    "a flag upon a reduced value": """
class T:
    def __init__(self): self.stop = False
    def see(self, x):
        t = torch.tensor(x); dist.all_reduce(t)
        if t.item() > 3: self.stop = True
    def go(self):
        self.see(own())
        if self.stop:
            dist.barrier()
def main(): T().go()
""",
    "a set of numbers": """
def main():
    for k in {1, 2, 3}:
        if k == 1:
            dist.barrier()
""",
    "a set of a range": """
def main():
    for k in set(range(4)):
        if k == 1:
            dist.barrier()
""",
    "a set put in order": """
def main():
    if sorted({"a", "b"})[0] == "a":
        dist.barrier()
""",
    "how much is in a set": """
def main():
    if len({"a", "b"}) == 2:
        dist.barrier()
""",
    "two sets compared": """
def main():
    if {"a", "b"} == set(["a", "b"]):
        dist.barrier()
""",
    "counted by all": """
def main():
    for i in itertools.count():
        if i > 10:
            dist.barrier()
            break
""",
    "set in a certain step": """
class T:
    def __init__(self): self.on = False
    def go(self, steps=10):
        for k in range(steps):
            if k == 3: self.on = True
            if self.on:
                dist.barrier()
def main(): T().go()
""",
    "a hook that counts": """
class T:
    def __init__(self, model):
        self.calls = 0
        model.register_forward_hook(self.hook)
    def hook(self, m, i, o): self.calls += 1
    def go(self):
        if self.calls > 3:
            dist.barrier()
def main(model): T(model).go()
""",
    "a list that an object was given, and fills on all ranks": """
class Reader:
    def __init__(self, sink): self.sink = sink
    def run(self):
        for i in range(3): self.sink.append(i)
def main():
    found = []
    Reader(found).run()
    if len(found) > 2:
        dist.barrier()
""",
    "a counter of the class, by the object's type, on all ranks": """
class Box:
    n = 0
    def put(self): type(self).n += 1
def main():
    b = Box(); b.put()
    if b.n > 2:
        dist.barrier()
""",
    "where a loop was left by all": """
def main():
    for i in range(10):
        if i > 3: break
    if i > 4:
        dist.barrier()
""",
    "what was made in the last of all rounds": """
def main():
    last = 0
    for i in range(10):
        last = i * 2
        print(own())
    if last > 4:
        dist.barrier()
""",
}


@pytest.mark.parametrize("text", UNLIKE.values(), ids=UNLIKE)
def test_what_ranks_may_have_otherwise_is_not_called_uniform(text: str) -> None:
    assert level(_HEAD + text) in ("varying", "unknown")


@pytest.mark.parametrize("text", ORDERS.values(), ids=ORDERS)
def test_what_the_order_of_a_set_decides_varies(text: str) -> None:
    assert level(_HEAD + text) == "varying"


@pytest.mark.parametrize("text", ALIKE.values(), ids=ALIKE)
def test_what_all_have_alike_is_uniform(text: str) -> None:
    assert level(_HEAD + text) == "uniform"
