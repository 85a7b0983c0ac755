"""What kind of call a stack stands in: two of different kinds can never be one collective."""

from __future__ import annotations

import re

from rankandfile.reason.ranks.host import Stand

_KINDS = (
    ("all_reduce", re.compile(r"all_?reduce|_notify_join")),
    ("reduce_scatter", re.compile(r"reduce_?scatter|foreach_reduce|reduce_grad")),
    ("all_gather", re.compile(r"all_?gather|gather_flat")),
    ("all_to_all", re.compile(r"all_?to_?all")),
    ("broadcast", re.compile(r"broadcast|bcast|_sync_\w*|_verify_param_shape")),
    ("barrier", re.compile(r"barrier")),
    ("gather", re.compile(r"gather")),
    ("scatter", re.compile(r"scatter")),
    ("reduce", re.compile(r"reduce")),
)
_ROOTED = ("broadcast", "gather", "scatter", "reduce")


def kind_of(stand: Stand) -> str:
    """`all_reduce`, `barrier`, `backward`, or the function's own name where it tells no kind."""
    if stand.activity == "backward":
        return "all_reduce"
    if stand.activity in ("init", "teardown"):
        return stand.op
    return next(
        (kind for kind, names in _KINDS if names.search(stand.op.lower())), stand.op or stand.activity
    )


def known(stand: Stand) -> bool:
    """It shows which collective it is, or which step of the setup or the end."""
    told = stand.activity in ("backward", "init", "teardown")
    return told or (
        stand.activity == "collective" and any(names.search(stand.op.lower()) for _, names in _KINDS)
    )


def may_be_in_a_transfer(stand: Stand) -> bool:
    """In a send or a receive, or in a wait for something that was begun before."""
    return stand.activity == "p2p" or (stand.activity == "collective" and not known(stand))


def rooted(stand: Stand) -> bool:
    """One rank gives or gets: others can be past it while it waits."""
    return kind_of(stand) in _ROOTED
