"""DeepSpeed: the engine's methods are for all ranks; under ZeRO stage 3 so is every forward."""

from .entry import OWN_NUMBER, Sanitiser, Source, Table

_ENGINE = "deepspeed.DeepSpeedEngine"
_COMM = "deepspeed.comm"
_RANK = Source("rank_api", OWN_NUMBER)

TABLE = Table(
    sources={
        f"{_COMM}.get_rank": _RANK,
        f"{_COMM}.get_local_rank": _RANK,
        f"{_ENGINE}.global_rank": _RANK,
        f"{_ENGINE}.local_rank": _RANK,
    },
    sanitisers={
        f"{_COMM}.all_reduce": Sanitiser(in_place=(0, "tensor"), group=(2, "group")),
        f"{_COMM}.broadcast": Sanitiser(in_place=(0, "tensor"), group=(2, "group")),
        f"{_COMM}.all_gather": Sanitiser(in_place=(0, "tensor_list"), group=(2, "group")),
        f"{_COMM}.broadcast_object_list": Sanitiser(in_place=(0, "object_list"), group=(2, "group")),
    },
    collectives={
        "deepspeed.initialize": "DeepSpeed makes groups and broadcasts the parameters here",
        "deepspeed.zero.GatheredParameters": "ZeRO gathers parameters here",
        f"{_ENGINE}.backward": "DeepSpeed reduces gradients here",
        f"{_ENGINE}.step": "DeepSpeed updates and gathers the parameters here",
        f"{_ENGINE}.save_checkpoint": "DeepSpeed's checkpoint is written by all ranks together",
        f"{_ENGINE}.load_checkpoint": "DeepSpeed's checkpoint is read by all ranks together",
        f"{_ENGINE}.save_16bit_model": "ZeRO gathers parameters here",
        f"{_ENGINE}.train_batch": "the pipeline's stages exchange activations and gradients here",
        f"{_ENGINE}.eval_batch": "the pipeline's stages exchange activations here",
        **{
            f"{_COMM}.{op}": f"{op} on the group"
            for op in (
                "all_reduce",
                "broadcast",
                "all_gather",
                "reduce_scatter",
                "all_to_all_single",
                "barrier",
            )
        },
    },
    perhaps=frozenset({"deepspeed.zero.GatheredParameters"}),
    wraps={"deepspeed.initialize": _ENGINE},
    forward={_ENGINE: "ZeRO stage 3 gathers parameters here"},
    backward={_ENGINE: "DeepSpeed reduces gradients here"},
    uniform=frozenset({f"{_COMM}.get_world_size", f"{_ENGINE}.is_gradient_accumulation_boundary"}),
    aliases={"deepspeed.runtime.engine.DeepSpeedEngine": _ENGINE, "deepspeed.comm.comm": _COMM},
    internals={
        "fetch_sub_module": "ZeRO stage 3 gathers parameters here",
        "all_gather_coalesced": "ZeRO stage 3 gathers parameters here",
        "allreduce_gradients": "DeepSpeed reduces gradients here",
        "reduce_independent_p_g_buckets_and_remove_grads": "ZeRO reduces gradients here",
    },
)
