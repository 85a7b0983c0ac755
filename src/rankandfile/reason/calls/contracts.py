"""What the members of a group must agree on in one collective, and what may legally differ.

One row per operation: the whole of what Rank & File knows about them. `agree` names the size on which members
must agree (in elements, not in shape: [2, 3] and [6] are the same message); `early` names the members that may
finish, and go on, before the others have joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from rankandfile.model.column import Row

Agree = Literal["input", "output", "either", "nothing", "sums", "parts", "name"]
Early = Literal["nobody", "root", "all but the root", "sender"]


class Contract(NamedTuple):
    op: str
    agree: Agree
    """input, output: that size is the same on every member. either: input where there is one, else output.
    sums: sizes differ legally, what is sent is what is received. name: an operation unknown to us."""
    early: Early
    root_has: Literal["", "input", "output"] = ""
    """The side that only the root gives: it tells who believes to be the root."""
    aliases: tuple[str, ...] = ()


CONTRACTS: tuple[Contract, ...] = (
    Contract("all_reduce", "input", "nobody", aliases=("allreduce", "all_reduce_sparse", "allreduce_sparse")),
    Contract("broadcast", "either", "root", aliases=("_broadcast_oop", "bcast")),
    Contract("reduce", "input", "all but the root", aliases=("_reduce_oop",)),
    # Uneven all_gathers are legal: what every member ends up with is the same all the same.
    Contract(
        "all_gather",
        "output",
        "nobody",
        aliases=(
            "allgather",
            "_all_gather_base",
            "_allgather_base",
            "all_gather_into_tensor",
            "all_gather_single",
            "all_gather_v",
        ),
    ),
    Contract(
        "reduce_scatter",
        "input",
        "nobody",
        aliases=(
            "_reduce_scatter_base",
            "reduce_scatter_base",
            "reduce_scatter_tensor",
            "reduce_scatter_single",
            "reduce_scatter_v",
        ),
    ),
    Contract("gather", "input", "all but the root", root_has="output"),
    Contract("scatter", "output", "root", root_has="input"),
    Contract(
        "all_to_all",
        "sums",
        "nobody",
        aliases=("alltoall", "alltoall_base", "all_to_all_single", "all_to_all_v_single", "all_to_allv"),
    ),
    Contract("barrier", "nothing", "nobody", aliases=("all_reduce_barrier", "allreduce_barrier")),
    # Making a communicator, or memory that is shared through it, is a call of all members of the old one.
    Contract("split", "nothing", "nobody"),
    Contract("new_window", "nothing", "nobody"),
    Contract("send", "nothing", "sender", aliases=("isend",)),
    Contract("recv", "nothing", "nobody", aliases=("irecv",)),
    Contract("coalesced", "parts", "nobody"),
)

_IN_TURN = ("all_gather", "reduce_scatter")
"""A tensor for each member, of sizes that may differ from member to member, and may not from list to list."""

_BY_NAME = {name: contract for contract in CONTRACTS for name in (contract.op, *contract.aliases)}


@lru_cache(maxsize=4096)
def contract_of(op: str) -> Contract:
    """The contract of an operation by any of its recorded names. An unknown one is compared by its name."""
    name = op.lower()
    if name.startswith("coalesced "):
        return _BY_NAME["coalesced"]._replace(op=name)
    for candidate in (name, name.removesuffix("_coalesced")):
        if candidate in _BY_NAME:
            return _BY_NAME[candidate]
    return Contract(name, "name", "nobody")


class Terms(NamedTuple):
    """What one call promised, as far as the other members must have promised the same."""

    op: str
    size: tuple[int, ...]
    dtype: tuple[str, ...]


def terms(op: str, shape: Row | None) -> Terms:
    """`shape` is a row of the table `shapes`, or None where sizes were not recorded."""
    contract = contract_of(op)
    if shape is None or contract.agree in ("nothing", "name", "parts"):
        return Terms(contract.op, (), ())
    given, got = elements(shape["in_sizes"]), elements(shape["out_sizes"])
    dtypes = shape["in_dtypes"] or shape["out_dtypes"] or []
    dtype = tuple(sorted(set(dtypes)))
    if contract.agree == "sums":
        return Terms(contract.op, (), dtype)
    if contract.agree == "output":
        size = got or given
    elif contract.agree == "either":
        size = given or got
    else:
        size = given
    if contract.op in _IN_TURN and len(set(size)) > 1:
        return Terms(contract.op, size, dtype)
    return Terms(contract.op, (sum(size),) if size else (), dtype)


def elements(sizes: Sequence[Sequence[int]] | None) -> tuple[int, ...]:
    """Number of elements of each tensor."""
    out: list[int] = []
    for tensor in sizes or ():
        count = 1
        for side in tensor:
            count *= side
        out.append(count)
    return tuple(out)
