"""Lightning: properties of the trainer that broadcast, hooks that reduce, and the ranks it knows."""

from .entry import OWN_NUMBER, Flag, Sanitiser, Source, Table

_T, _M, _F = "lightning.pytorch.Trainer", "lightning.pytorch.LightningModule", "lightning.fabric.Fabric"
_D = "lightning.pytorch.LightningDataModule"
_RANK = Source("rank_api", OWN_NUMBER)
_MAIN = Source("rank_api", "true on the main process only")
_SAME = Sanitiser(returned=True, world=True)

_LOCAL = Source("local_data", "made from this rank's batches only")
_LOGGED = Source(
    "local_data",
    "what was logged of this rank alone, and not reduced then",
    unless=("sync_dist", "torchmetrics", "all_gather", "all_reduce"),
)
_STEP = frozenset({"advance"})

TABLE = Table(
    flags={f"{_T}.should_stop": Flag("stops training", _STEP, leaves=True)},
    upon_exceptions={
        f"{owner}.on_exception": "Lightning calls on_exception upon an exception alone"
        for owner in ("lightning.pytorch.Callback", _M, _D)
    },
    hooks={
        "lightning.pytorch.Callback": {
            "trainer": _T,
            "pl_module": _M,
            "outputs": _LOCAL,
            "batch": _LOCAL,
        },
        _M: {"batch": _LOCAL, "outputs": _LOCAL},
    },
    sources={
        **{
            f"{owner}.{name}": _RANK
            for owner in (_T, _M, _F)
            for name in ("global_rank", "local_rank", "node_rank")
        },
        **{
            f"{_T}.{name}": _LOGGED for name in ("callback_metrics", "logged_metrics", "progress_bar_metrics")
        },
        **{f"{owner}.is_global_zero": _MAIN for owner in (_T, _F)},
        "lightning.pytorch.utilities.rank_zero_only.rank": _RANK,
    },
    sanitisers={
        f"{_M}.all_gather": _SAME,
        f"{_F}.all_gather": _SAME,
        f"{_F}.all_reduce": _SAME,
        f"{_F}.broadcast": _SAME,
        f"{_T}.strategy.broadcast": _SAME,
        f"{_T}.strategy.reduce": _SAME,
        f"{_T}.strategy.reduce_boolean_decision": _SAME,
        f"{_T}.log_dir": _SAME,
    },
    properties=frozenset({f"{_T}.log_dir"}),
    collectives={
        f"{_T}.log_dir": "Lightning broadcasts the log directory here",
        **{
            f"{_T}.{name}": "the strategy runs the model on all ranks here"
            for name in ("fit", "validate", "test", "predict")
        },
        f"{_T}.save_checkpoint": "Lightning's checkpoint is written by all ranks together",
        f"{_T}.strategy.barrier": "barrier on all ranks",
        f"{_T}.strategy.broadcast": "broadcast to all ranks",
        f"{_T}.strategy.reduce": "reduce over all ranks",
        f"{_T}.strategy.reduce_boolean_decision": "all ranks vote here",
        f"{_M}.all_gather": "all_gather over all ranks",
        f"{_M}.log": "with sync_dist=True, Lightning reduces the value here",
        f"{_M}.log_dict": "with sync_dist=True, Lightning reduces each of the values here",
        f"{_M}.manual_backward": "the strategy reduces gradients here",
        f"{_F}.barrier": "barrier on all ranks",
        f"{_F}.backward": "the strategy reduces gradients here",
        f"{_F}.save": "the checkpoint may be written by all ranks together",
        f"{_F}.setup": "Fabric wraps the model for all ranks here",
        f"{_F}.all_gather": "all_gather over all ranks",
        f"{_F}.all_reduce": "all_reduce over all ranks",
        f"{_F}.broadcast": "broadcast to all ranks",
        f"{_F}.clip_gradients": "the strategy may reduce the norm here",
    },
    perhaps=frozenset({f"{_M}.log", f"{_M}.log_dict", f"{_F}.save", f"{_F}.clip_gradients"}),
    wraps={f"{_F}.setup_dataloaders": ""},
    uniform=frozenset(
        {
            f"{_T}.world_size",
            f"{_T}.max_epochs",
            f"{_T}.global_step",
            f"{_T}.current_epoch",
            f"{_T}.num_nodes",
            f"{_F}.world_size",
            f"{_M}.global_step",
            f"{_M}.current_epoch",
        }
    ),
    aliases={
        "pytorch_lightning": "lightning.pytorch",
        "lightning.Trainer": _T,
        "lightning.Callback": "lightning.pytorch.Callback",
        "lightning.pytorch.callbacks.Callback": "lightning.pytorch.Callback",
        **{f"{owner}.trainer": _T for owner in (_M, _D)},
        f"{_M}.fabric": _F,
        "lightning.pytorch.trainer.Trainer": _T,
        "lightning.LightningModule": _M,
        "lightning.LightningDataModule": _D,
        "lightning.Fabric": _F,
        "lightning_fabric": "lightning.fabric",
    },
    internals={
        "reduce_boolean_decision": "Lightning's ranks vote here",
        "_sync_params_and_buffers": "the parameters are broadcast here",
    },
)
