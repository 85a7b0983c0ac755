"""What NCCL writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

MACHINE = [
    Example("N1", "nccl_init", "node07:4242:4310 [3] NCCL INFO ncclCommInitRank comm 0x5581 rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 9d000 commId 0x8f31c2 - Init START",
            {"host": "node07", "pid": 4242, "group_rank": 3, "nranks": 16, "comm_id": "0x8f31c2", "bus": "9d000", "phase": "Init START"}),
    Example("N1", "nccl_init", "node07:4242:4310 [3] NCCL INFO comm 0x5581 rank 3 nranks 16 cudaDev 3 busId 9d000 commId 0x8f31c2 - Init COMPLETE", {"phase": "Init COMPLETE"}),
    Example("N1", "nccl_init", "node07:4242:4310 [3] NCCL INFO [Rank 3] ncclCommSplit comm 0x5581 rank 3 nranks 4 cudaDev 3 nvmlDev 3 busId 9d000 parent 0x44 splitCount 1 color 7 key 3 commId 0x77 - Init START", {"group_rank": 3, "nranks": 4, "comm_id": "0x77"}),
    Example("N1", "nccl_init", "node07:4242:4310 [3] NCCL INFO comm 0x5581 rank 3 nranks 16 cudaDev 3 busId 9d000 - Destroy COMPLETE", {"phase": "Destroy COMPLETE"}),
    Example("N2", "nccl_call", "node07:4242:4242 [3] NCCL INFO AllReduce: opCount 1a3 sendbuff 0x7f12 recvbuff 0x7f34 count 1048576 datatype 9 op 0 root 0 comm 0x5581 [nranks=16] stream 0x5582",
            {"op": "AllReduce", "seq": 0x1A3, "size_in": 1048576, "datatype": 9, "comm": "0x5581", "nranks": 16}),
    Example("N3", "ib_completion_error", "node07:4242:4310 [3] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.1.2.3<41872> with error 12, opcode 0, len 0, vendor err 129", {"peer": "10.1.2.3<41872>", "status": 12, "vendor": 129, "role": "messenger"}),
    Example("N3", "ib_completion_error", "[2026-02-07 08:41:09] node07:4242:4310 [3] NCCL WARN NET/IB : Got completion from peer 10.1.2.3<41872> with status=12 opcode=0 len=0 vendor err 129 (Recv) localGid ::ffff:10.1.2.4 remoteGids::ffff:10.1.2.3", {"status": 12, "direction": "Recv", "vendor": 129, "time_quality": "wall"}),
    Example("N3", "ib_completion_error", "node07:4242:4310 [3] transport/net_ib.cc:1295 (ncclIbTest) NCCL WARN NET/IB: Got completion from peer 10.1.2.3<41872> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) reqSize=0 vendor_err=129 req_type=Send hca mlx5_3", {"status": 12, "status_name": "IBV_WC_RETRY_EXC_ERR", "vendor": 129, "hca": "mlx5_3"}),
    Example("N3", "ib_completion_error", "node07:4242:4310 [3] NCCL WARN NET/IB: Got completion from peer 10.1.2.3<41872> with status=IBV_WC_WR_FLUSH_ERR(5) opcode=IBV_WC_SEND(0) vendor_err=249", {"status": 5, "role": "echo"}),
    Example("N4", "ib_link_event", "node07:4242:4310 [3] NCCL WARN NET/IB : Got async event : port error", {"event": "port error", "role": "origin"}),
    Example("N4", "ib_link_event", "node07:4242:4310 [3] NCCL WARN NET/IB : mlx5_3:1 Got async event : port error", {"hca": "mlx5_3:1", "event": "port error"}),
    Example("N4", "ib_link_event", "node07:4242:4310 [3] NCCL WARN NET/IB : mlx5_3:1 async fatal event: local catastrophic error", {"event": "local catastrophic error"}),
    Example("N4", "ib_link_event", "node07:4242:4310 [3] NCCL WARN NET/IB : mlx5_3:1 Got async error event: port error", {"event": "port error"}),
    Example("N4", "ib_link_event", "node07:4242:4310 [3] NCCL WARN NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)", {"event": "port error(10)"}),
    Example("N4", "ib_gid_changed", "node07:4242:4310 [3] NCCL WARN NET/IB : mlx5_3:1 GID table changed", {}),
    Example("N5", "socket_closed", "node07:4242:4310 [3] misc/socket.cc:58 NCCL WARN socketProgress: Connection closed by remote peer node09<50312>", {"peer": "node09<50312>", "role": "echo"}),
    Example("N5", "socket_unreachable", "node07:4242:4310 [3] NCCL INFO socketPollConnect: connect to 10.1.2.9<50312> returned Connection refused, retrying (3/34) after sleep for 300 msec", {"peer": "10.1.2.9<50312>", "error": "Connection refused", "tried": 3}),
    Example("N5", "socket_unreachable", "node07:4242:4310 [3] NCCL WARN socketPollConnect: connect to 10.1.2.9<50312> returned Connection refused, exceeded error retry count after 35 attempts", {"attempts": 35}),
    Example("N6", "size_truncated", "node07:4242:4310 [3] NCCL WARN NET/Socket : peer 10.1.2.3<41872> message truncated : receiving 1048576 bytes instead of 524288. If you believe ...", {"size_in": 1048576, "size_out": 524288}),
    Example("N6", "size_disagrees", "node07:4242:4310 [3] NCCL WARN NET/IB : req 0/1 tag 7 peer 10.1.2.3<41872> collective mismatch error, local size 524288 remote size 1048576", {"size_in": 524288, "size_out": 1048576}),
    Example("N6", "bootstrap_truncated", "node07:4242:4310 [3] NCCL WARN Message truncated : received 16 bytes instead of 8", {"size_in": 16, "size_out": 8}),
    Example("N7", "proxy_noise", "node07:4242:4310 [3] NCCL WARN [Service thread] Could not receive type from localRank 2, res=3, closed=0", {"neighbour": 2, "role": "echo"}),
    Example("N7", "proxy_noise", "node07:4242:4310 [3] NCCL WARN [Service thread] Error encountered progressing operation=Connect, res=3, closing connection", {}),
    Example("N7", "proxy_noise", "node07:4242:4310 [3] NCCL WARN [Proxy Service 3] Failed to execute operation Connect from rank 2, retcode 3", {}),
]  # fmt: skip


class TestNccl(ShapeTests):
    machine = MACHINE
