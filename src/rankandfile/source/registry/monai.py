"""MONAI: metrics that keep what they were given until they are asked, and gather it from all ranks then."""

from .entry import Sanitiser, Table

_M = "monai.metrics.CumulativeIterationMetric"
_SAME = Sanitiser(returned=True, world=True)
_WORDS = "MONAI gathers the metric's buffers from all ranks here"

TABLE = Table(
    sanitisers={f"{_M}.aggregate": _SAME, f"{_M}.get_buffer": _SAME},
    collectives={
        f"{_M}.aggregate": _WORDS,
        f"{_M}.get_buffer": _WORDS,
        "monai.utils.evenly_divisible_all_gather": "all_gather over all ranks",
        "monai.utils.string_list_all_gather": "all_gather over all ranks",
    },
    anew={f"{_M}.aggregate": "appended"},
    counts={f"{_M}.appended": ("append", "extend")},
    families={"monai.metrics": _M},
    internals={"evenly_divisible_all_gather": _WORDS},
)
