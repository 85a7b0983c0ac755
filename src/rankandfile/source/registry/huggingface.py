"""Accelerate and Transformers."""

from .entry import OWN_NUMBER, Flag, Sanitiser, Source, Table

_A, _P, _T = "accelerate.Accelerator", "accelerate.PartialState", "transformers.Trainer"
_RANK = Source("rank_api", OWN_NUMBER)
_MAIN = Source("rank_api", "true on the main process only")
_SAME = Sanitiser(returned=True, world=True)
_STATES = (_A, _P, "accelerate.state.AcceleratorState")
_ARGUMENTS = "transformers.TrainingArguments"

_CONTROL = "transformers.TrainerControl"
_STEP = frozenset({"training_step", "_run_epoch"})
_LOCAL = Source("local_data", "made from this rank's batches only")

TABLE = Table(
    flags={
        f"{_CONTROL}.should_evaluate": Flag("evaluates", frozenset({"evaluate", "evaluation_loop"})),
        f"{_CONTROL}.should_save": Flag("saves", frozenset({"_save_checkpoint", "save_model"})),
        f"{_CONTROL}.should_log": Flag(
            "gathers the loss and logs it", frozenset({"_nested_gather", "nested_gather", "log"})
        ),
        f"{_CONTROL}.should_training_stop": Flag("stops training", _STEP, leaves=True),
        f"{_CONTROL}.should_epoch_stop": Flag("ends the epoch", _STEP, leaves=True),
    },
    hooks={
        "transformers.TrainerCallback": {
            "args": _ARGUMENTS,
            "state": "transformers.TrainerState",
            "control": _CONTROL,
        },
        _T: {"inputs": _LOCAL},
    },
    sources={
        **{f"{s}.{name}": _RANK for s in _STATES for name in ("process_index", "local_process_index")},
        **{
            f"{s}.{name}": _MAIN
            for s in _STATES
            for name in (
                "is_main_process",
                "is_local_main_process",
                "is_last_process",
            )
        },
        f"{_ARGUMENTS}.process_index": _RANK,
        f"{_ARGUMENTS}.local_process_index": _RANK,
        f"{_ARGUMENTS}.local_rank": _RANK,
        f"{_ARGUMENTS}.should_save": _MAIN,
        f"{_ARGUMENTS}.should_log": _MAIN,
        f"{_T}.is_world_process_zero": _MAIN,
        f"{_T}.is_local_process_zero": _MAIN,
    },
    sanitisers={
        f"{_A}.gather": _SAME,
        f"{_A}.gather_for_metrics": _SAME,
        f"{_A}.reduce": _SAME,
        f"{_A}.check_trigger": _SAME,
        "accelerate.utils.gather": _SAME,
        "accelerate.utils.gather_object": _SAME,
        "accelerate.utils.reduce": _SAME,
        "accelerate.utils.broadcast": _SAME,
        "accelerate.utils.broadcast_object_list": Sanitiser(
            returned=True, in_place=(0, "object_list"), world=True
        ),
    },
    collectives={
        f"{_A}.prepare": "Accelerate wraps the model for all ranks here",
        f"{_A}.backward": "the wrapped model reduces gradients here",
        f"{_A}.gather": "all_gather over all ranks",
        f"{_A}.gather_for_metrics": "all_gather over all ranks",
        f"{_A}.reduce": "all_reduce over all ranks",
        f"{_A}.pad_across_processes": "all_gather of the sizes over all ranks",
        f"{_A}.wait_for_everyone": "barrier on all ranks",
        f"{_A}.check_trigger": "all ranks reduce the trigger here",
        f"{_A}.clip_grad_norm_": "the norm may be reduced over all ranks here",
        f"{_A}.save_state": "the state is saved by all ranks together",
        f"{_A}.load_state": "the state is loaded by all ranks together",
        f"{_A}.get_state_dict": "sharded parameters are gathered here",
        f"{_A}.main_process_first": "all ranks meet in a barrier here",
        f"{_A}.local_main_process_first": "all ranks meet in a barrier here",
        f"{_P}.wait_for_everyone": "barrier on all ranks",
        f"{_P}.main_process_first": "all ranks meet in a barrier here",
        "accelerate.utils.gather": "all_gather over all ranks",
        "accelerate.utils.gather_object": "all_gather over all ranks",
        "accelerate.utils.broadcast": "broadcast to all ranks",
        "accelerate.utils.broadcast_object_list": "broadcast to all ranks",
        "accelerate.utils.wait_for_everyone": "barrier on all ranks",
        f"{_T}.train": "training reduces gradients on all ranks",
        f"{_T}.evaluate": "evaluation gathers predictions from all ranks",
        f"{_T}.predict": "prediction gathers results from all ranks",
        f"{_T}.save_model": "sharded parameters are gathered here",
        f"{_T}.push_to_hub": "sharded parameters are gathered here",
        "transformers.PreTrainedModel.generate": "with sharded parameters, every generated token gathers them",
    },
    perhaps=frozenset(
        {
            *(f"{_A}.{name}" for name in ("clip_grad_norm_", "get_state_dict", "save_state", "load_state")),
            *(f"{_T}.{name}" for name in ("save_model", "push_to_hub")),
            "transformers.PreTrainedModel.generate",
        }
    ),
    wraps={f"{_A}.prepare": _A},
    forward={_A: "the wrapped model may gather parameters or broadcast buffers here"},
    backward={_A: "the wrapped model reduces gradients here"},
    uniform=frozenset({"transformers.TrainerState.global_step", "transformers.TrainerState.max_steps"})
    | frozenset(
        f"{s}.{name}"
        for s in _STATES
        for name in (
            "num_processes",
            "use_distributed",
            "sync_gradients",
            "distributed_type",
            "gradient_accumulation_steps",
            "mixed_precision",
        )
    ),
    aliases={
        "accelerate.accelerator.Accelerator": _A,
        "accelerate.state.PartialState": _P,
        "accelerate.utils.operations": "accelerate.utils",
        "transformers.trainer.Trainer": _T,
        "transformers.Seq2SeqTrainer": _T,
        "trl.SFTTrainer": _T,
        f"{_T}.accelerator": _A,
        f"{_T}.args": _ARGUMENTS,
        f"{_T}.control": _CONTROL,
        "transformers.trainer_callback": "transformers",
        "transformers.training_args.TrainingArguments": _ARGUMENTS,
    },
    internals={
        "wait_for_everyone": "barrier on all ranks",
        "_nested_gather": "the Trainer gathers results from all ranks here",
    },
)
