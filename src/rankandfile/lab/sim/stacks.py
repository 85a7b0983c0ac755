"""The frames torch itself puts into a stack, as of torch 2.13 on Linux.

A recorded stack is mostly not the user's: the op and its logging wrapper come first, then module calls or
autograd, and the user's own frames lie between. Analysers have to look through that, so it is reproduced.
"""

from __future__ import annotations

from rankandfile.lab.flight_writer_types import Frame

SITE_PACKAGES = "/opt/venv/lib/python3.11/site-packages"
_TORCH = f"{SITE_PACKAGES}/torch"
_C10D = f"{_TORCH}/distributed/distributed_c10d.py"

_OP_LINES = {
    "broadcast": 3148,
    "all_reduce": 3245,
    "all_gather": 4284,
    "all_gather_into_tensor": 4416,
    "reduce_scatter_tensor": 4964,
    "all_to_all_single": 5137,
    "barrier": 5343,
    "isend": 2652,
    "irecv": 2705,
    "send": 2755,
    "recv": 2806,
}
_WRAPPER = Frame("wrapper", f"{_TORCH}/distributed/c10d_logger.py", 83)


def op_frames(function: str) -> tuple[Frame, ...]:
    """A call of `torch.distributed.<function>`: the op, then the decorator that logs it."""
    op = Frame(function, _C10D, _OP_LINES[function])
    return (op,) if function in ("isend", "irecv") else (op, _WRAPPER)


def batch_frames(function: str) -> tuple[Frame, ...]:
    """The op inside `batch_isend_irecv`; the closing entry comes from the end of the coalescing manager."""
    batch = Frame("batch_isend_irecv", _C10D, 3063)
    if function == "coalesced":
        manager = Frame("_coalescing_manager", _C10D, 2903)
        leave = Frame("__exit__", "/usr/lib/python3.11/contextlib.py", 144)
        return (manager, leave, batch)
    return (Frame(function, _C10D, _OP_LINES[function]), batch)


def module_call() -> tuple[Frame, ...]:
    """What `self.layer(x)` leaves between two `forward` frames."""
    module = f"{_TORCH}/nn/modules/module.py"
    return (Frame("_call_impl", module, 1789), Frame("_wrapped_call_impl", module, 1778))


def backward_call() -> tuple[Frame, ...]:
    """What `loss.backward()` leaves; C++ hooks such as DDP's reducer have nothing of Python inside of it."""
    return (
        Frame("_engine_run_backward", f"{_TORCH}/autograd/graph.py", 979),
        Frame("backward", f"{_TORCH}/autograd/__init__.py", 395),
        Frame("backward", f"{_TORCH}/_tensor.py", 623),
    )


def function_backward() -> tuple[Frame, ...]:
    """The backward of a `torch.autograd.Function` runs in Python, above the engine."""
    return (Frame("apply", f"{_TORCH}/autograd/function.py", 317), *backward_call())


def elastic_frames() -> tuple[Frame, ...]:
    """`torchrun` starts scripts directly; `python -m package.train` leaves the runpy frames."""
    return (Frame("_run_code", "<frozen runpy>", 88), Frame("_run_module_as_main", "<frozen runpy>", 198))
