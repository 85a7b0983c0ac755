"""NCCL's own lines about calls and about the network. Host and process id are in the prefix; the rank is not."""

# ruff: noqa: E501 - a pattern that is cut in two cannot be read any more

from __future__ import annotations

from rankandfile.evidence.text.logs.context import Context
from rankandfile.evidence.text.logs.event import Event
from rankandfile.evidence.text.logs.shape import Shape

ORDER = 40

#: IBV_WC_WR_FLUSH_ERR: the queue was emptied after an earlier error.
_FLUSHED = 5


def _completion(event: Event, _context: Context) -> None:
    if event.fields.get("status") == _FLUSHED:
        event.role = "echo"


def _call(event: Event, _context: Context) -> None:
    """The operation counter is hexadecimal, and counts per communicator."""
    count = str(event.fields.pop("opcount", ""))
    if 0 < len(count) <= 15:
        event.seq = int(count, 16)


SHAPES = (
    Shape(
        "nccl_call", "N2", "fact", "opCount ",
        r"(?P<op>\w+): opCount (?P<opcount>[0-9a-f]+) .*?\bcount (?P<size_in>\d+) datatype (?P<datatype>\d+)(?: op (?P<redop>\d+))?(?: root (?P<root>-?\d+))? comm (?P<comm>\w+)(?: \[n?ranks=(?P<nranks>\d+)\])?",
        then=_call,
    ),
    Shape(
        "nccl_init", "N1", "fact", ("Init START", "Init COMPLETE", "Abort COMPLETE", "Destroy COMPLETE"),
        r"\bcomm (?P<comm>0x[0-9a-f]{1,16}) rank (?P<group_rank>\d+) n[Rr]anks (?P<nranks>\d+)(?: cudaDev (?P<device>\d+))?(?: nvmlDev (?P<nvml>\d+))?(?: busId (?P<bus>[0-9a-f]+))?(?:.{0,200}?\bcommId (?P<comm_id>0x[0-9a-f]{1,16}))?.{0,200}?(?P<phase>(?:Init|Abort|Destroy) (?:START|COMPLETE))",
    ),
    Shape(
        "nccl_init", "N1", "fact", "Destroy COMPLETE",
        r"\bcomm (?P<comm>0x[0-9a-f]{1,16}) rank (?P<group_rank>\d+).*?(?P<phase>Destroy COMPLETE)",
    ),
    Shape(
        "ib_completion_error", "N3", "messenger", "Got completion from peer",
        r"Got completion from peer (?P<peer>\S+) with (?:error |status=(?:(?P<status_name>\w+)\()?)(?P<status>\d+)\)?.*?(?:vendor[ _]err[ =](?P<vendor>\d+))(?:.*?(?:\((?P<direction>Send|Recv)\)|req_type=(?P<req_type>\w+)))?(?:.*?hca (?P<hca>\S+))?",
        then=_completion,
    ),
    Shape(
        "ib_link_event", "N4", "origin",
        ("Got async event", "async fatal event", "Got async error event", "Got non-fatal async event",
         "GID table changed"),
        r"NET/IB\s*:\s*(?:(?P<hca>[\w.-]+:\d+) )?(?:Got )?(?:async |non-fatal async |async error |async fatal )(?:error |fatal )?event\s*:\s*(?P<event>.*)",
    ),
    Shape(
        "ib_gid_changed", "N4", "fact", "GID table changed",
        r"NET/IB\s*:\s*(?:(?P<hca>[\w.-]+:\d+) )?.*?GID table changed",
    ),
    Shape(
        "socket_closed", "N5", "echo", "Connection closed by remote peer",
        r"Connection closed by remote peer (?P<peer>\S+)",
    ),
    Shape(
        "socket_closed", "N5", "echo", (" failed : Broken pipe", " failed : Connection reset"),
        r"Call to (?P<operation>\w+) (?:from|to) (?P<peer>\S+) failed : (?P<error>Broken pipe|Connection reset by peer)",
    ),
    Shape(
        "ofi_completion_error", "N3", "messenger", "completed with error. RC:",
        r"Request (?P<request>\S+) completed with error\. RC: (?P<status>\d+)\. Error: (?P<error>.{0,200})",
    ),
    Shape(
        "socket_silent", "N5", "messenger", (" failed : Connection timed out", " failed : No route", " failed : Host is", " failed : Network is"),
        r"Call to (?P<operation>\w+) (?:from|to) (?P<peer>\S+) failed : (?P<error>Connection timed out|No route to host|Host is (?:down|unreachable)|Network is unreachable)",
    ),
    Shape(
        "socket_silent", "N5", "messenger", ("Connect to ", "connect to "),
        r"(?:Net : |socket\w+: )(?:Connect|connect) to (?P<peer>\S+) (?:failed : |returned \d+\()(?P<error>Connection timed out|No route to host|Host is (?:down|unreachable)|Network is unreachable)\)?(?!.{0,20}retrying)",
    ),
    Shape(
        "nccl_address", "N1", "fact", "Bootstrap : Using ",
        r"Bootstrap : Using (?P<interface>[\w.-]+):(?P<address>\S+?)<\d+>",
    ),
    Shape("nccl_connected", "N1", "fact", ("Connected all rings", "Connected all trees"), r"Connected all (?P<what>rings|trees)"),
    Shape(
        "socket_unreachable", "N5", "messenger",
        ("socketPollConnect", "socketStartConnect", "error retry count after"),
        r"(?:connect to |Connect to )(?P<peer>\S+) (?:returned |failed\s*:\s*)(?P<error>.*?),?\s*(?:retrying \((?P<tried>\d+)/(?P<tries>\d+)\)|exceeded error retry count after (?P<attempts>\d+))",
    ),
    Shape(
        "size_truncated", "N6", "fact", "message truncated : ",
        r"peer (?P<peer>\S+) message truncated : receiving (?P<size_in>\d+) bytes instead of (?P<size_out>\d+)",
    ),
    Shape(
        "size_disagrees", "N6", "fact", "collective mismatch error",
        r"peer (?P<peer>\S+) collective mismatch error,? local size (?P<size_in>\d+) remote size (?P<size_out>\d+)",
    ),
    Shape(
        "bootstrap_truncated", "N6", "fact", "Message truncated : ",
        r"Message truncated : received (?P<size_in>\d+) bytes instead of (?P<size_out>\d+)",
    ),
    Shape(
        "proxy_noise", "N7", "echo", ("[Service thread]", "[Proxy Service"),
        r"\[(?:Service thread|Proxy Service)\s*[^\]]*\] (?:Could not receive type from localRank (?P<neighbour>\d+)|Error encountered progressing operation=(?P<operation>\w+)|Failed to execute operation (?P<operation_failed>\w+) from rank (?P<from_rank>\d+))",
    ),
)  # fmt: skip
