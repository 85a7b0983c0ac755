"""What torch does to the other ranks without saying so: DDP, FSDP, DTensor, SyncBatchNorm, checkpoints, Join."""

from .entry import Sanitiser, Source, Table

_DDP = "torch.nn.parallel.DistributedDataParallel"
_FSDP1 = "torch.distributed.fsdp.FullyShardedDataParallel"
_FSDP2 = "torch.distributed.fsdp.fully_shard"
_DTENSOR = "torch.distributed.tensor.DTensor"
_SYNC_BN = "torch.nn.SyncBatchNorm"
_DCP = "torch.distributed.checkpoint"
_DDP_BACKWARD = "DDP reduces gradients here"
_FSDP_FORWARD = "FSDP gathers parameters here"
_FSDP_BACKWARD = "FSDP gathers parameters and reduces gradients here"

TABLE = Table(
    wraps={
        _DDP: _DDP,
        _FSDP1: _FSDP1,
        _FSDP2: _FSDP2,
        f"{_SYNC_BN}.convert_sync_batchnorm": _SYNC_BN,
        "torch.compile": "",
        "torch.distributed.tensor.parallel.parallelize_module": "torch.distributed.tensor.parallel.parallelize_module",
        "torch.distributed.algorithms._checkpoint.checkpoint_wrapper.checkpoint_wrapper": "",
    },
    forward={
        _DDP: "DDP may broadcast buffers here",
        _FSDP1: _FSDP_FORWARD,
        _FSDP2: _FSDP_FORWARD,
        _SYNC_BN: "SyncBatchNorm gathers statistics here",
        "torch.distributed.tensor.parallel.parallelize_module": "tensor parallel layers reduce activations here",
    },
    backward={
        _DDP: _DDP_BACKWARD,
        _FSDP1: _FSDP_BACKWARD,
        _FSDP2: _FSDP_BACKWARD,
        _SYNC_BN: "SyncBatchNorm reduces the gradients of its statistics here",
        "torch.distributed.tensor.parallel.parallelize_module": "tensor parallel layers reduce gradients here",
    },
    fills={f"{_DCP}.load": ((0, "state_dict"), ("checkpoint_id",))},
    collectives={
        _DDP: "DDP compares and broadcasts the parameters here",
        f"{_FSDP1}.state_dict": "FSDP gathers parameters for the state dict here",
        f"{_FSDP1}.clip_grad_norm_": "FSDP reduces the norm of the gradients here",
        f"{_FSDP1}.summon_full_params": "FSDP gathers parameters here",
        f"{_FSDP1}.full_optim_state_dict": "FSDP gathers the optimizer's state here",
        f"{_FSDP1}.optim_state_dict": "FSDP gathers the optimizer's state here",
        f"{_DTENSOR}.full_tensor": "DTensor gathers its shards here",
        f"{_DTENSOR}.redistribute": "DTensor moves its shards here",
        "torch.distributed.tensor.distribute_tensor": "DTensor scatters or broadcasts the tensor here",
        f"{_DCP}.save": "the checkpoint is planned and written by all ranks together",
        f"{_DCP}.async_save": "the checkpoint is planned by all ranks together",
        f"{_DCP}.load": "the checkpoint is planned and read by all ranks together",
        f"{_DCP}.state_dict.get_model_state_dict": "the state dict is gathered from all ranks here",
        f"{_DCP}.state_dict.get_optimizer_state_dict": "the state dict is gathered from all ranks here",
        f"{_DCP}.state_dict.get_state_dict": "the state dict is gathered from all ranks here",
        f"{_DCP}.state_dict.set_model_state_dict": "the state dict is handed to all ranks here",
        f"{_DCP}.state_dict.set_state_dict": "the state dict is handed to all ranks here",
        "torch.distributed.optim.ZeroRedundancyOptimizer.step": "the sharded optimizer broadcasts its part here",
        "torch.distributed.optim.ZeroRedundancyOptimizer.consolidate_state_dict": (
            "the sharded optimizer gathers its state here"
        ),
        "torch.nn.utils.clip_grad_norm_": "the norm of sharded gradients is reduced here",
        "torch.distributed.algorithms.join.Join": "Join counts the ranks that still have inputs here",
    },
    perhaps=frozenset({"torch.nn.utils.clip_grad_norm_", f"{_FSDP1}.state_dict", f"{_DCP}.async_save"}),
    group_at={"torch.distributed.tensor.distribute_tensor": 1},
    makes={
        f"torch.distributed.tensor.{name}": _DTENSOR
        for name in (
            "distribute_tensor",
            "DTensor.from_local",
            "ones",
            "zeros",
            "empty",
            "full",
            "rand",
            "randn",
        )
    },
    sanitisers={
        f"{_DTENSOR}.full_tensor": Sanitiser(returned=True),
        f"{_FSDP1}.clip_grad_norm_": Sanitiser(returned=True),
    },
    sources={
        f"{_DTENSOR}.to_local": Source("local_data", "this rank's shard of the tensor"),
    },
    aliases={
        "torch.nn.parallel.distributed.DistributedDataParallel": _DDP,
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel": _FSDP1,
        "torch.distributed._composable.fsdp.fully_shard": _FSDP2,
        "torch.distributed._composable.fully_shard": _FSDP2,
        "torch.distributed._tensor": "torch.distributed.tensor",
        "torch.nn.modules.batchnorm.SyncBatchNorm": _SYNC_BN,
        "torch.distributed.checkpoint.state_dict_saver": _DCP,
        "torch.distributed.checkpoint.state_dict_loader": _DCP,
    },
    internals={
        "_sync_buffers": "DDP broadcasts buffers here",
        "_sync_module_states": "the parameters are broadcast from one rank here",
        "_verify_param_shape_across_processes": "DDP compares the parameters of all ranks here",
        "_allreduce_fut": _DDP_BACKWARD,
        "_reduce_grad": _FSDP_BACKWARD,
        "_post_backward_hook": _FSDP_BACKWARD,
        "post_backward": _FSDP_BACKWARD,
        "foreach_reduce": "FSDP reduces gradients here",
        "foreach_all_gather": _FSDP_FORWARD,
        "_all_gather_flat_param": _FSDP_FORWARD,
        "_pre_forward_unshard": _FSDP_FORWARD,
        "_pre_backward_hook": _FSDP_BACKWARD,
        "unshard": _FSDP_FORWARD,
        "full_tensor": "DTensor gathers its shards here",
        "redistribute": "DTensor moves its shards here",
        "redistribute_local_tensor": "DTensor moves its shards here",
        "consolidate_state_dict": "the sharded optimizer gathers its state here",
        "reduce_scatter": "the group reduces and scatters here",
        "all_reduce": "the group reduces here",
    },
)
