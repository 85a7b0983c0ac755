"""Megatron's parallel state: ranks and groups by axis."""

from .entry import Source, Table

_STATE = "megatron.core.parallel_state"
_AXES = {
    "tensor_model_parallel": "tp",
    "pipeline_model_parallel": "pp",
    "data_parallel": "dp",
    "context_parallel": "cp",
    "expert_model_parallel": "ep",
}
_STAGE = Source("rank_api", "the rank's pipeline stage", along="=pp")

TABLE = Table(
    sources={
        **{
            f"{_STATE}.get_{name}_rank": Source(
                "rank_api", f"the rank's place along {axis}", along=f"={axis}"
            )
            for name, axis in _AXES.items()
        },
        f"{_STATE}.is_pipeline_first_stage": _STAGE,
        f"{_STATE}.is_pipeline_last_stage": _STAGE,
    },
    groups={f"{_STATE}.get_{name}_group": axis for name, axis in _AXES.items()},
    uniform=frozenset(f"{_STATE}.get_{name}_world_size" for name in _AXES),
    aliases={"megatron.core.mpu": _STATE, "megatron.mpu": _STATE},
)
