"""How a patch says what it does: with `rankandfile.guard`, or with plain torch."""

from __future__ import annotations

import ast
import json

from msgspec import Struct

from .code import Module
from .edit import Edits

_VOTE = '''
def {name}(flag, group=None):
    """True on every rank of the group if it is true on {many} of them."""
    if not {dist}.is_initialized():
        return bool(flag)
    device = "cuda" if "nccl" in {dist}.get_backend(group) else "cpu"
    vote = {torch}.tensor([1 if flag else 0], device=device)
    {dist}.all_reduce(vote, {dist}.ReduceOp.{op}, group=group)
    return bool(vote.item())
'''
_RANK_ZERO = '''
def {name}(value, group=None):
    """The value that the first rank of the group has, on every rank of it."""
    box = [value]
    {dist}.broadcast_object_list(box, src={dist}.get_global_rank(group, 0) if group else 0, group=group)
    return box[0]
'''
_FEWEST = '''
def {name}(count, group=None):
    """The smallest of the ranks' counts, on every rank of the group."""
    counts = [None] * {dist}.get_world_size(group)
    {dist}.all_gather_object(counts, count, group=group)
    return min(counts)
'''
_STAND_IN = '''
def {name}(tensor, group=None):
    """The tensor, or zeros like another rank's where this rank has none; None where no rank has one."""
    kinds = [None] * {dist}.get_world_size(group)
    kind = None if tensor is None else (tuple(tensor.shape), tensor.dtype, tensor.device.type)
    {dist}.all_gather_object(kinds, kind, group=group)
    if tensor is not None or not any(kinds):
        return tensor
    shape, dtype, device = next(kind for kind in kinds if kind)
    return {torch}.zeros(shape, dtype=dtype, device=device)
'''
_SAME = '''
def {name}(value, what, group=None):
    """The value, where all ranks of the group have the same; an error that names them where they have not."""
    values = [None] * {dist}.get_world_size(group)
    {dist}.all_gather_object(values, repr(value), group=group)
    if len(set(values)) > 1:
        ranks = {dist}.get_process_group_ranks(group or {dist}.group.WORLD)
        told = "; ".join(f"rank {{rank}} has {{value}}" for rank, value in zip(ranks, values))
        raise RuntimeError(f"{{what}}: the ranks differ: {{told}}")
    return value
'''
_IN_STEP = '''
def {name}(iterable, group=None):
    """The items, as long as every rank of the group has another one."""
    iterator, end = iter(iterable), object()
    while True:
        item = next(iterator, end)
        if not {all_ranks}(item is not end, group):
            return
        yield item
'''


class Spelling(Struct):
    """Writes the calls of one patch, and adds the imports and functions that they need to its edits."""

    edits: Edits
    plain: bool

    @property
    def module(self) -> Module:
        return self.edits.module

    def agree(self, expression: str, how: str, group: str) -> str:
        """The decision, made together: "any" or "all"."""
        if self.plain:
            return f"{self._vote(how)}({_argument(expression)}{_then(group)})"
        return f'{self.guard()}.agree({_argument(expression)}, how="{how}"{_group(group)})'

    def in_step(self, expression: str, group: str) -> str:
        """The items of an iterable, on all ranks equally many."""
        if not self.plain:
            return f"{self.guard()}.uneven({_argument(expression)}{_group(group)})"
        name = self.helper("while_all_have", _IN_STEP, all_ranks=self._vote("all"))
        return f"{name}({_argument(expression)}{_then(group)})"

    def of_rank_zero(self, expression: str, group: str) -> str:
        if not self.plain and not group:
            return f"{self.guard()}.share({_argument(expression)})"
        return f"{self.helper('as_first_rank', _RANK_ZERO)}({_argument(expression)}{_then(group)})"

    def fewest(self, expression: str, group: str) -> str:
        return f"{self.helper('fewest', _FEWEST)}({_argument(expression)}{_then(group)})"

    def stand_in(self, expression: str, group: str) -> str:
        return f"{self.helper('or_zeros', _STAND_IN)}({_argument(expression)}{_then(group)})"

    def same(self, expression: str, what: str, group: str) -> str:
        """The value, checked to be the same on all ranks; the error says what it is."""
        given = f"{_argument(expression)}, {literal(what)}"
        if not self.plain:
            return f"{self.guard()}.same({given}{_group(group)})"
        return f"{self.helper('same_on_all_ranks', _SAME)}({given}{_then(group)})"

    def same_function(self) -> str:
        """The name of the function that `same` calls."""
        return self.helper("same_on_all_ranks", _SAME) if self.plain else f"{self.guard()}.same"

    def guard(self) -> str:
        """The name of `rankandfile.guard` in the module."""
        known = self._known("rankandfile.guard")
        if known:
            return known
        name = "guard" if "guard" not in self.module.names else "raf_guard"
        self.edits.imports.append(
            f"from rankandfile import guard{'' if name == 'guard' else ' as raf_guard'}"
        )
        return name

    def dist(self) -> str:
        known = self._known("torch.distributed")
        if known:
            return known
        name = "dist" if "dist" not in self.module.names else "torch_distributed"
        self.edits.imports.append(f"import torch.distributed as {name}")
        return name

    def torch(self) -> str:
        known = self._known("torch")
        if known:
            return known
        self.edits.imports.append("import torch")
        return "torch"

    def _known(self, dotted: str) -> str:
        """The name that the module's own top imports give it; one imported in a function would not do."""
        for node in self.module.tree.body:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name == dotted and (alias.asname or "." not in dotted):
                        return alias.asname or dotted
            elif isinstance(node, ast.ImportFrom) and not node.level:
                for alias in node.names:
                    if f"{node.module}.{alias.name}" == dotted:
                        return alias.asname or alias.name
        return ""

    def _vote(self, how: str) -> str:
        op, many = ("MAX", "at least one") if how == "any" else ("MIN", "all")
        return self.helper("any_rank" if how == "any" else "all_ranks", _VOTE, op=op, many=many)

    def helper(self, name: str, code: str, **words: str) -> str:
        """Add a function to the module; returns its name. `{dist}` and `{torch}` in its code are filled in."""
        while name in self.module.names:
            name += "_agreed"
        if "{dist}" in code:
            words["dist"] = self.dist()
        if "{torch}" in code:
            words["torch"] = self.torch()
        self.edits.helpers.append(code.strip().format(name=name, **words))
        return name


def literal(text: str) -> str:
    """The text as a Python string in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def _argument(expression: str) -> str:
    """The expression as an argument: a generator or a walrus needs brackets of its own."""
    node = ast.parse(f"({expression})", mode="eval").body
    return f"({expression})" if isinstance(node, (ast.GeneratorExp, ast.NamedExpr, ast.Yield)) else expression


def _group(group: str) -> str:
    return f", group={group}" if group else ""


def _then(group: str) -> str:
    return f", {group}" if group else ""
