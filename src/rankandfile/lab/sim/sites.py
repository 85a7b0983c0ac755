"""Call sites of the simulated jobs: which chain of lines, inner to outer, ends in which torch call.

A site that a schedule comes to in several phases is named with the phase: `stage_mlp@warm`.
"""

from __future__ import annotations

from functools import cache

from rankandfile.lab.flight_writer_types import Frame
from rankandfile.lab.sim.sources import RUN_FROM, MarkedLine, places
from rankandfile.lab.sim.stacks import (
    backward_call,
    batch_frames,
    elastic_frames,
    function_backward,
    module_call,
)
from rankandfile.lab.sim.stacks import op_frames as op

Link = str | tuple[Frame, ...]
Chain = tuple[Link, ...]

_MODULE = module_call()
_FIT: Chain = ("run_epoch", "fit", "main", elastic_frames())
_STEP: Chain = ("train_step", *_FIT)
_WHOLE: Chain = ("forward_backward", *_STEP)
_FORWARD: Chain = ("block_call", _MODULE, "forward_call", *_WHOLE)
_BACKWARD: Chain = (function_backward(), "backward_call", *_WHOLE)
_HOOK: Chain = (backward_call(), "backward_call", *_WHOLE)
_ATTENTION: Chain = (_MODULE, "block_attention", _MODULE, *_FORWARD)
_FFN: Chain = (_MODULE, "block_ffn", _MODULE, *_FORWARD)
_STAGE: Chain = ("steady_forward", "pipeline_run", *_WHOLE)
_PIPE: Chain = ("pipeline_run", *_WHOLE)
_LOG: Chain = ("log_metrics", *_FIT)
_EVALUATE: Chain = ("evaluate", "fit", "main", elastic_frames())
_CHECKPOINT: Chain = ("checkpoint", "fit", "main", elastic_frames())
_PREPARE: Chain = ("prepare", "main", elastic_frames())

#: Pipeline exchanges: what the schedule was doing, by the name of the exchange.
_EXCHANGES: dict[str, Chain] = {
    "warm_recv": ("recv_forward", "warm_recv"),
    "warm_send": ("send_forward", "warm_send"),
    "steady_recv": ("recv_forward", "steady_recv"),
    "steady_exchange": ("send_forward_recv_backward", "steady_exchange"),
    "steady_return": ("send_backward_recv_forward", "steady_return"),
    "cool_recv": ("recv_backward", "cool_recv"),
    "cool_send": ("send_backward", "cool_send"),
}
_IN_ORDER = {
    "send_next": ("send", "pp_send_next"),
    "send_prev": ("send", "pp_send_prev"),
    "recv_prev": ("recv", "pp_recv_prev"),
    "recv_next": ("recv", "pp_recv_next"),
}

SITES: dict[str, Chain] = {
    "init_broadcast": (op("broadcast"), "sync_parameters", "build_model", *_PREPARE),
    "prepare_barrier": (op("barrier"), "prepare_barrier", *_PREPARE),
    "build_index": ("index_shard", "build_index", *_PREPARE),
    "ddp_bucket": (*_HOOK,),
    "tp_adapter": (
        op("all_reduce"), "tp_reduce_forward", "tp_reduce_apply", "adapter_reduce", _MODULE, "adapter_call",
        _MODULE, "block_call", _MODULE, "stage_forward", *_STAGE,
    ),
    "moe_counts": (op("all_to_all_single"), "a2a_counts", "a2a_apply", "moe_dispatch", *_FFN),
    "moe_dispatch": (op("all_to_all_single"), "a2a_forward", "a2a_apply", "moe_dispatch", *_FFN),
    "moe_combine": (op("all_to_all_single"), "a2a_forward", "a2a_apply", "moe_combine", *_FFN),
    "moe_backward": (op("all_to_all_single"), "a2a_backward", *_BACKWARD),
    "moe_tolist": ("a2a_tolist", "a2a_apply", "moe_dispatch", *_FFN),
    "unit_gather": (op("all_gather_into_tensor"), "unit_gather", "forward_unshard", *_FORWARD),
    "unit_regather": (op("all_gather_into_tensor"), "unit_gather", *_HOOK),
    "unit_scatter": (op("reduce_scatter_tensor"), "unit_scatter", *_HOOK),
    "unit_replicate": (op("all_reduce"), "unit_replicate", *_HOOK),
    "vision_gather": (
        op("all_gather_into_tensor"), "unit_gather", "forward_unshard", _MODULE, "vision_call", _MODULE,
        "forward_call", *_WHOLE,
    ),
    "ring_send": (batch_frames("isend"), "ring_batch", "ring_shift", "ring_attend", *_ATTENTION),
    "ring_recv": (batch_frames("irecv"), "ring_batch", "ring_shift", "ring_attend", *_ATTENTION),
    "ring_close": (batch_frames("coalesced"), "ring_batch", "ring_shift", "ring_attend", *_ATTENTION),
    "dp_reduce": (op("all_reduce"), "dp_reduce", "reduce_gradients", *_STEP),
    "late_reduce": (op("all_reduce"), "late_reduce", "optimizer_step", *_STEP),
    "tied_reduce": (op("all_reduce"), "tied_reduce", "reduce_gradients", *_STEP),
    "norm_reduce": (op("all_reduce"), "norm_reduce", "grad_norm_call", "optimizer_step", *_STEP),
    "norm_broadcast": (op("broadcast"), "norm_broadcast", "grad_norm_call", "optimizer_step", *_STEP),
    "window_reduce": (op("all_reduce"), "window_reduce", "grad_norm_call", "optimizer_step", *_STEP),
    "norm_item": ("norm_item", "grad_norm_call", "optimizer_step", *_STEP),
    "param_gather": (
        op("all_gather_into_tensor"), "param_gather", "gather_parameters_call", "optimizer_step", *_STEP,
    ),
    "loss_item": ("loss_item", *_STEP),
    "loss_reduce": (op("all_reduce"), "loss_reduce", "metrics_reduce", *_LOG),
    "loss_broadcast": (op("broadcast"), "loss_broadcast", "metrics_reduce", *_LOG),
    "metric_item": ("metric_item", "metrics_reduce", *_LOG),
    "split_reduce": (op("all_reduce"), "split_reduce", "split_means", *_STEP),
    "split_item": ("split_item", "split_means", *_STEP),
    "split_items": ("split_items", "split_means", *_STEP),
    "report_reduce": (op("all_reduce"), "report_reduce", "metrics_report", *_LOG),
    "predictions_gather": (op("all_gather"), "predictions_gather", "gather_predictions", *_EVALUATE),
    "predictions_cpu": ("predictions_cpu", "gather_predictions", *_EVALUATE),
    "best_broadcast": (op("broadcast"), "best_broadcast", "broadcast_best", *_EVALUATE),
    "checkpoint_barrier": (op("barrier"), "checkpoint_barrier", *_CHECKPOINT),
    "save": ("torch_save", "save_rank0", *_CHECKPOINT),
    "read_batch": ("cache_wait", "read_batch", "next_batch", *_FIT),
    "kernel_build": (
        "sdpa", "attention_reduce", _MODULE, "block_attention", _MODULE, "block_call", _MODULE, "stage_forward",
        *_STAGE,
    ),
    "final_sync": ("final_sync", "finish", "main", elastic_frames()),
    "destroy": ("destroy", "main", elastic_frames()),
    "exit": ("main", elastic_frames()),
    "step": _STEP,
}  # fmt: skip

for _phase, _forward, _backward in (
    ("warm", "warm_forward", ""),
    ("steady", "steady_forward", "steady_backward"),
    ("cool", "", "cool_backward"),
):
    if _forward:
        for _what, _reduce, _layer in (
            ("attention", "attention_reduce", "block_attention"),
            ("mlp", "mlp_reduce", "block_ffn"),
        ):
            SITES[f"stage_{_what}@{_phase}"] = (
                op("all_reduce"), "tp_reduce_forward", "tp_reduce_apply", _reduce, _MODULE, _layer, _MODULE,
                "block_call", _MODULE, "stage_forward", _forward, *_PIPE,
            )  # fmt: skip
    if _backward:
        SITES[f"stage_backward@{_phase}"] = (
            op("all_reduce"), "tp_reduce_backward", function_backward(), "stage_backward", _backward, *_PIPE,
        )  # fmt: skip

for _what, _chain in _EXCHANGES.items():
    for _function, _suffix in (("isend", "send"), ("irecv", "recv"), ("coalesced", "close")):
        SITES[f"{_what}_{_suffix}"] = (batch_frames(_function), "pp_batch", *_chain, *_PIPE)
    for _side, (_function, _marker) in _IN_ORDER.items():
        SITES[f"{_what}_{_side}"] = (op(_function), _marker, "in_order_call", *_chain, *_PIPE)

#: The C++ autograd thread issues what backward hooks and autograd functions issue on a device.
_FROM_BACKWARD = {"ddp_bucket", "stage_backward", "moe_backward", "unit_regather", "unit_scatter"}


@cache
def frames_of(site: str) -> tuple[Frame, ...]:
    """The recorded stack of a site, innermost first."""
    out: list[Frame] = []
    for link in SITES[site]:
        if isinstance(link, str):
            place = places()[link]
            out.append(Frame(place.function, f"{RUN_FROM}/{place.file}", place.line))
        else:
            out.extend(link)
    return tuple(out)


@cache
def user_place(site: str) -> MarkedLine:
    """The user's innermost line of a site: the call site a person would name."""
    return places()[next(link for link in SITES[site] if isinstance(link, str))]


def thread_of(site: str) -> str:
    return "pt_autograd_0" if site.partition("@")[0] in _FROM_BACKWARD else "pt_main_thread"
