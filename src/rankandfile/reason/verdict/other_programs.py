"""Advice for jobs that torch's recorder does not record: JAX, servers of models, Horovod, other makers' libraries."""

from __future__ import annotations

import re

import msgspec
import polars as pl
from msgspec.structs import replace

from rankandfile.model.causes import CAUSES
from rankandfile.model.diagnosis import Missing
from rankandfile.model.log_shapes import OF_TORCH
from rankandfile.reason.facts import Facts

from .finding import Finding

_KINDS = (
    ("JAX", ("xla_rendezvous", "xla_leader_stuck", "xla_unstuck", "jax_unhealthy_tasks", "jax_barrier")),
    ("vLLM", ("vllm_no_block", "executor_worker_died")),
    ("SGLang", ("sglang_watchdog",)),
    ("Horovod", ("horovod_stalled",)),
    ("HCCL", ("hccl_notify", "hccl_lost")),
)
_FRAMES = (
    ("vLLM", r"(?:^|/)vllm/"),
    ("SGLang", r"(?:^|/)sglang/"),
    ("JAX", r"(?:^|/)jax/(?:_src|experimental|distributed)"),
    ("Horovod", r"(?:^|/)horovod/"),
)
#: torch runs below these too; its watchdogs may well speak.
_ABOVE_TORCH = frozenset(("vLLM", "SGLang", "XCCL", "HCCL"))
_NEXT = {
    "JAX": "`py-spy dump --native --pid PID` of every process, twice: all must run the same programs in the "
    "same order",
    "vLLM": "`py-spy dump --pid PID` of each VLLM::Worker and EngineCore, twice; VLLM_LOGGING_LEVEL=DEBUG tells "
    "what each was executing",
    "SGLang": "`py-spy dump --pid PID` of each sglang::scheduler process, twice",
    "Horovod": "`py-spy dump --pid PID` of every rank, twice; HOROVOD_LOG_LEVEL=debug tells the tensors of each",
    "MPI": "`py-spy dump --native --pid PID` of every rank: the call of MPI in which each stands",
    "XCCL": "`py-spy dump --native --pid PID` of every rank, twice; CCL_LOG_LEVEL=info tells each rank's calls",
    "HCCL": "`py-spy dump --native --pid PID` of every rank, and their plogs (~/ascend/log)",
}
_OF_MPI = r"^(?:P?MPIX?_[A-Z]|p?mpi_[a-z_]+_$|MPID?[IR]_|ompi_)"
_OF_TORCH = re.compile(r"TORCH_|flight.recorder|NCCL_DEBUG|\bdumps?\b(?! --)|raf run")


_OF_NCCL = re.compile(r"\bNCCL|TORCH_")
_WHERE = "where each rank stands"


def fit(facts: Facts, found: Finding) -> Finding:
    """The finding without advice that this kind of job cannot follow."""
    program = program_of(facts)
    if program is None:
        return found
    kept = tuple(
        one for one in found.missing if one.what != _WHERE and not _OF_TORCH.search(f"{one.what} {one.how}")
    )
    if len(kept) < len(found.missing):
        kept = (Missing(what=_WHERE, how=_NEXT[program]), *kept)
    others = tuple(
        msgspec.structs.replace(one, decided_by="the source (--src), and the last lines of all ranks")
        if one.decided_by and _OF_TORCH.search(one.decided_by)
        else one
        for one in found.alternatives
    )
    advised = any(_OF_NCCL.search(words) for words in CAUSES[found.cause].anti_advice)
    unadvised = (
        (*found.unadvised, "anti_advice") if advised and program not in _ABOVE_TORCH else found.unadvised
    )
    return replace(found, missing=kept, alternatives=others, unadvised=unadvised)


def program_of(facts: Facts) -> str | None:
    """What runs the job, where it is something that torch's recorder does not record."""
    case = facts.case
    if facts.call_table.calls.height:
        return None
    kinds = set(case.events["kind"].cast(pl.String).to_list())
    files = case.frames["file"]
    named = {name for listed in case.logs["programs"].drop_nulls().to_list() for name in listed}
    found = [name for name, signs in _KINDS if not kinds.isdisjoint(signs)]
    found += [name for name, pattern in _FRAMES if files.str.contains(pattern).any()]
    found += [name for name in _NEXT if name in named]
    if not files.str.contains(r"(?:^|/)torch/").any() and case.frames["function"].str.contains(_OF_MPI).any():
        found.append("MPI")
    torch = case.events["shape"].cast(pl.String).str.contains(OF_TORCH).any()
    return next((name for name in found if name in _ABOVE_TORCH or not torch), None)
