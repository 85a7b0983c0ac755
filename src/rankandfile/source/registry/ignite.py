"""Ignite: `idist`, which wraps torch's calls, and engines, which give each batch to a function that they are handed."""

from .entry import OWN_NUMBER, Ender, Sanitiser, Source, Table

_D, _E, _M = "ignite.distributed", "ignite.engine.Engine", "ignite.metrics.Metric"
_RANK = Source("rank_api", OWN_NUMBER)
_LOCAL = Source("local_data", "made from this rank's batches only")
_STEP = (_E, _LOCAL)
_ROUND = frozenset({"_run_once_on_dataset_as_gen", "_run_once_on_dataset_legacy", "_run_once_on_dataset"})
_LIMIT = Source("clock", "the clock of this rank")

TABLE = Table(
    handed={_E: _STEP},
    ends={
        f"{_E}.terminate": Ender("it is called on this rank", _ROUND),
        f"{_E}.terminate_epoch": Ender("it is called on this rank", _ROUND),
        f"{_E}.should_terminate": Ender("it is stored on this rank", _ROUND),
        "ignite.handlers.TerminateOnNan": Ender(
            "what the step returned on this rank is no finite number", _ROUND
        ),
        "ignite.handlers.TimeLimit": Ender("the time is up by this rank's clock", _ROUND, _LIMIT),
        "ignite.handlers.EarlyStopping": Ender("this rank's score did not get better", _ROUND),
    },
    sources={
        **{f"{_D}.{name}": _RANK for name in ("get_rank", "get_local_rank", "get_node_rank")},
        f"{_E}.state.batch": _LOCAL,
    },
    sanitisers={
        f"{_D}.all_reduce": Sanitiser(returned=True, in_place=(0, "tensor"), group=(2, "group")),
        f"{_D}.all_gather": Sanitiser(returned=True, group=(1, "group")),
        f"{_D}.broadcast": Sanitiser(returned=True, world=True),
    },
    group_at={f"{_D}.all_reduce": 2, f"{_D}.all_gather": 1, f"{_D}.all_gather_tensors_with_shapes": 2},
    collectives={
        f"{_D}.all_reduce": "all_reduce over the group",
        f"{_D}.all_gather": "all_gather over the group",
        f"{_D}.all_gather_tensors_with_shapes": "all_gather over the group",
        f"{_D}.broadcast": "broadcast to all ranks",
        f"{_D}.barrier": "barrier on all ranks",
        f"{_D}.new_group": "every rank of the job makes the group here",
        f"{_D}.one_rank_first": "the other ranks wait here in a barrier",
        f"{_M}.compute": "Ignite reduces the metric's sums over all ranks here",
    },
    perhaps=frozenset({f"{_M}.compute"}),
    wraps={f"{_D}.auto_model": "torch.nn.parallel.DistributedDataParallel"},
    uniform=frozenset(
        {
            f"{_D}.get_world_size",
            f"{_D}.get_nnodes",
            f"{_D}.get_nproc_per_node",
            f"{_D}.backend",
            f"{_E}.state.epoch",
            f"{_E}.state.max_epochs",
        }
    ),
    families={"ignite.metrics": _M},
    aliases={
        "ignite.handlers.terminate_on_nan": "ignite.handlers",
        "ignite.handlers.time_limit": "ignite.handlers",
        "ignite.handlers.early_stopping": "ignite.handlers",
        "ignite.engine.engine.Engine": _E,
        "ignite.distributed.utils": _D,
        "ignite.distributed.auto": _D,
        "ignite.metrics.metric.Metric": _M,
    },
)
