"""peel(prefix + line) gives the line back, and what the prefix said, for any stack of prefixes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples

from rankandfile.evidence.text.prefixes import peel
from rankandfile.evidence.text.stamps import stamp

_rank = st.integers(0, 99_999)
_host = st.sampled_from(["node07", "gpu-12.cluster", "ip-10-1-2-3", "w-3"])
_clock = st.builds("{:02d}:{:02d}:{:02d}".format, st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))

PREFIXES = st.one_of(
    _rank.map("[rank{}]:".format),
    _rank.map("[rank{}[]:".format),
    _rank.map("[rank{}]: ".format),
    _rank.map("[default{}]:".format),
    st.builds("[default{}|{}]:".format, _rank, _rank),
    st.integers(0, 999).map(" {}: ".format),
    st.builds("[1,{}]<stderr>:".format, _rank),
    _host.map("{}: ".format),
    st.builds("(RayTrainWorker pid={}, ip=10.1.2.3) ".format, _rank),
    st.builds("(Actor(x=1) pid={}) ".format, _rank),
    st.just("[pod/w-3/main] "),
    st.builds("(VllmWorker rank={} pid=303) ".format, _rank),
    st.builds("[2026-02-07 {} DP0 TP{}] ".format, _clock, _rank),
    st.builds("ERROR 02-07 {} [worker.py:671] ".format, _clock),
    st.builds("2026-02-07T{}.512004418Z stderr F ".format, _clock),
    st.builds("2026-02-07 {},512 ".format, _clock),
    st.builds("[2026-02-07 {},512] ".format, _clock),
    st.builds("{}.512 ".format, _clock),
    st.just("w-0  | "),
    st.integers(1000, 99_999).map("[{}] ".format),
    st.builds(
        "[E{}{:02d} {}.118264031 ProcessGroupNCCL.cpp:616] ".format,
        st.integers(1, 12),
        st.integers(1, 28),
        _clock,
    ),
    st.just("[E ProcessGroupNCCL.cpp:737] "),
    st.builds("W1120 {}.383000 29322 torch/distributed/elastic/agent/server/api.py:1028] ".format, _clock),
    st.builds("[2026-01-05 {},123] torch.distributed.elastic: [WARNING] ".format, _clock),
    st.just("WARNING:torch.distributed.run:"),
    st.builds("{}:4242:4310 [3] transport/net_ib.cc:1295 NCCL WARN ".format, _host),
    st.builds("{}:4242:4310 [3] misc/socket.cc:9 (ncclSocketPoll) NCCL WARN ".format, _host),
    st.builds("{}:4242:4310 [-1] NCCL INFO ".format, _host),
    st.builds("{}:4242:4310 [0] RCCL INFO ".format, _host),
    st.just("[81234.567999] "),
    st.just("[Sat Feb  7 08:41:09 2026] "),
    st.just("Feb  7 08:41:09 node07 kernel: "),
    st.just("2026-02-07T08:41:09+0100 node07 kernel: "),
)

#: Text that begins with no prefix of any kind.
LINES = st.sampled_from(
    [
        "Traceback (most recent call last):",
        "RuntimeError: Socket Timeout",
        "terminate called without an active exception",
        "slurmstepd: error: Detected 1 oom_kill event",
        "slurmstepd-node07: error: Detected 1 oom_kill event",
        "srun: error: node07: task 5: Killed",
        "NVRM: Xid (PCI:0000:9d:00): 79, pid=4242",
        "INFO: task python3:4242 blocked for more than 120 seconds.",
        "nfs: server fs01 not responding, still trying",
        "#0 broadcast from /opt/x.py:3145",
        "[PG ID 2 PG GUID 9(dp) Rank 0]  failure detected",
        "[Rank 3] Watchdog caught",
        "[5] is setting up NCCL communicator",
        "Fp8Error: not supported",
        "",
    ]
)


@given(st.lists(PREFIXES, max_size=5), LINES)
@settings(max_examples=examples(600), deadline=None)
def test_any_stack_of_prefixes_is_peeled(prefixes: list[str], line: str) -> None:
    bare = peel("".join(prefixes) + line)
    assert bare.body == line
    assert len(bare.layers) >= len(prefixes)


@given(_rank, st.lists(PREFIXES.filter(lambda p: not p.startswith("[rank")), max_size=3), LINES)
@settings(max_examples=examples(200), deadline=None)
def test_the_rank_is_found_wherever_it_stands(rank: int, others: list[str], line: str) -> None:
    for place in range(len(others) + 1):
        bare = peel("".join([*others[:place], f"[rank{rank}]:", *others[place:]]) + line)
        assert (bare.rank, bare.rank_from) == (rank, "prefix")


@given(st.text(max_size=300))
@settings(max_examples=examples(500), deadline=None)
def test_peeling_takes_nothing_but_the_beginning(text: str) -> None:
    assert text.endswith(peel(text).body)


def test_a_local_rank_is_no_rank() -> None:
    bare = peel("[default3]:hello")
    assert (bare.rank, bare.local_rank) == (None, 3)


def test_nccls_bracket_is_a_device() -> None:
    bare = peel("node07:4242:4310 [3] NCCL INFO hello")
    assert (bare.rank, bare.device, bare.host, bare.pid) == (None, 3, "node07", 4242)


def test_the_month_of_a_c10_date_has_no_leading_zero() -> None:
    february = peel("[rank0]:[E207 08:41:09.512004418 X.cpp:1] x").time
    november = peel("[rank0]:[E1103 08:41:09.512004418 X.cpp:1] x").time
    assert february == stamp(None, 2, 7, "08:41:09", "512004418")
    assert november == stamp(None, 11, 3, "08:41:09", "512004418")


def test_a_carriers_full_date_beats_a_date_without_a_year() -> None:
    time = peel("2026-02-07T08:41:10.000000000Z stderr F [rank0]:[E207 09:41:09.5 X.cpp:1] x").time
    assert time is not None
    assert time.quality == "zoned"


def test_what_is_no_date_is_no_time() -> None:
    assert peel("[rank0]:[E231 08:41:09.5 X.cpp:1] x").time is None
    assert peel("2026-13-41 08:41:09,512 x").time is None
    assert peel("2026-02-07 28:41:09,512 x").time is None


def test_a_zone_is_taken_off() -> None:
    assert stamp(2026, 2, 7, "08:41:09", None, "+01:00") == stamp(2026, 2, 7, "07:41:09", None, "Z")


def test_a_word_before_a_colon_is_rarely_a_host() -> None:
    for line in ("rank3: hello", "step12: loss", "RuntimeError: x2", "Loss: 3", "slurmstepd-n1: error: x"):
        assert peel(line).host is None, line
