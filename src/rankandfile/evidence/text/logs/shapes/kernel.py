"""The kernel's words, from dmesg, journald or syslog. Process ids are the host's, not the container's."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 130


def _crashed(event: Event, _context: Context) -> None:
    event.signal = "SIGSEGV"


SHAPES = (
    Shape(
        "kernel_oom", "K4", "origin", "Killed process ",
        r"(?P<scope>Memory cgroup out of memory|Out of memory)[^:]*: Killed process (?P<pid>\d+) \((?P<name>[^)]*)\)(?:.*?anon-rss:(?P<anon_kb>\d+)kB)?",
    ),
    Shape(
        "kernel_oom_detail", "K4", "fact", "oom-kill:constraint",
        r"oom-kill:constraint=(?P<constraint>\w+),.*?task=(?P<name>[^,]*),pid=(?P<pid>\d+)",
    ),
    Shape("kernel_oom_trigger", "K4", "fact", "invoked oom-killer", r"(?<!\S)(?P<name>\S+) invoked oom-killer"),
    Shape(
        "hung_task", "K6", "origin", "blocked for more than",
        r"task (?P<name>\S+):(?P<pid>\d+) blocked for more than (?P<waited_s>\d+) seconds",
    ),
    Shape("nfs_stalled", "K6", "origin", "not responding, ", r"nfs: server (?P<peer>\S+) not responding"),
    Shape("nfs_recovered", "K6", "fact", "nfs: server ", r"nfs: server (?P<peer>\S+) OK"),
    Shape(
        "link_down", "K6", "origin", ("Link down", "link down", "Link is Down", "port_state DOWN"),
        r"(?P<driver>mlx5_core|mlx4_core|bnxt_en|ice|i40e|ixgbe|ena|efa|irdma|hfi1)\b.*?(?P<what>[Ll]ink (?:is )?[Dd]own)",
    ),
    Shape(
        "pcie_error", "K6", "origin", ": AER: ",
        r"(?:pcieport|nvidia|amdgpu) (?P<bus>[0-9a-f:.]{5,12}): AER: (?P<error>(?:Uncorrect\w+|Multiple Uncorrect\w+).{0,80})",
    ),
    Shape(
        "memory_fault", "K6", "origin", ("uncorrectable ECC", "Uncorrectable ECC", "uncorrectable error detected"),
        r"(?P<error>[Uu]ncorrectable (?:ECC )?(?:memory )?error.{0,80})",
    ),
    Shape(
        "machine_check", "K6", "origin", ("mce: [Hardware Error]", "[Hardware Error]:"),
        r"\[Hardware Error\]: (?P<error>.*)",
    ),
    Shape(
        "segfault", "K6", "origin", ": segfault at ",
        r"(?P<name>[\w.-]+)\[(?P<pid>\d+)\]: segfault at (?P<address>\w+)",
        then=_crashed,
    ),
)  # fmt: skip
