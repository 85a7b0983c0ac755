"""torchmetrics: `compute` synchronises; `update` does not."""

from .entry import Sanitiser, Table

_M = "torchmetrics.Metric"
_SAME = Sanitiser(returned=True, world=True)

TABLE = Table(
    sanitisers={f"{_M}.compute": _SAME},
    collectives={
        f"{_M}.compute": "torchmetrics gathers the metric's state from all ranks here",
        f"{_M}.sync": "torchmetrics gathers the metric's state from all ranks here",
        f"{_M}.forward": "with dist_sync_on_step=True, torchmetrics gathers the metric's state here",
    },
    anew={f"{_M}.compute": "update_count"},
    perhaps=frozenset({f"{_M}.forward"}),
    counts={
        f"{_M}.{name}": ("update", "forward")
        for name in ("update_count", "update_called", "_update_count", "_update_called")
    },
    makes={f"{_M}.{name}": _M for name in ("values", "items", "clone")},
    families={"torchmetrics": _M},
    internals={
        "gather_all_tensors": "torchmetrics gathers the metric's state from all ranks here",
        "_sync_dist": "torchmetrics gathers the metric's state from all ranks here",
    },
)
