"""Hosts that do not answer, kernels that wait, ports, pods and stores: whose ranks they are, where several things tell."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from pathlib import Path

import pytest
from support.render.cards import shown

import rankandfile
from rankandfile.model.diagnosis import Verdict

GAVE_UP = (
    "[rank{rank}]:[E311 04:20:00.139371 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=777, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000) ran for 600031 "
    "milliseconds before timing out."
)


def best(folder: Path, files: dict[str, str]) -> Verdict:
    for name, text in files.items():
        (folder / name).write_text(text)
    return rankandfile.diagnose([folder]).verdicts[0]


def sure(found: Verdict) -> list[int]:
    return [one.rank for one in found.culprits]


MAP_4 = "".join(
    f" Data for node: nd{node}\tNum slots: 2\tMax slots: 0\tNum procs: 2\n"
    + "".join(
        f" \tProcess OMPI jobid: [41234,1] App: 0 Process rank: {2 * node + i} Bound: N/A\n" for i in range(2)
    )
    for node in range(3)
)
SAYS = "".join(f"rank {rank} of 6 running on nd{rank // 2}\n" for rank in range(6))
LOST = [
    "--------\nORTE has lost communication with a remote daemon.\n\n  HNP daemon   : [[17757,0],0] on node head\n  Remote daemon: [[17757,0],3] on node nd2\n\nThis is usually due to a failure of the TCP network\n",
    "$ ssh nd2 uptime\nssh: connect to host nd2 port 22: Connection timed out\n",
    "$ ping -c 3 nd2\nPING nd2.local (10.1.1.4) 56(84) bytes of data.\n\n--- nd2.local ping statistics ---\n3 packets transmitted, 0 received, 100% packet loss, time 2041ms\n",
    "slurmctld: error: Nodes nd2 not responding\n",
]


@pytest.mark.parametrize("lost", LOST)
@pytest.mark.parametrize("told", [MAP_4, SAYS], ids=["map", "says"])
def test_a_host_that_does_not_answer(tmp_path: Path, told: str, lost: str) -> None:
    found = best(
        tmp_path, {"run.log": "mpirun -np 6 ./solve\n" + told + "it 40 res 1e-4\nit 80 res 5e-5\n" + lost}
    )
    assert (found.cause, sure(found)) == ("peer_unreachable", [4, 5])
    assert "nd2" in found.sentence
    advice = [one.how for one in found.missing_evidence] + found.anti_advice
    assert not any("TORCH_" in words or "NCCL_" in words for words in advice), advice


@pytest.mark.parametrize("lost", LOST)
def test_a_host_that_no_rank_is_known_of(tmp_path: Path, lost: str) -> None:
    found = best(tmp_path, {"run.log": "mpirun -np 6 ./solve\nit 40 res 1e-4\n" + lost})
    assert not sure(found)


NCCL_UP = "n{host}:{pid}:{pid} [{dev}] NCCL INFO Bootstrap : Using eth0:10.2.0.{host}<0>\nn{host}:{pid}:{pid} [{dev}] NCCL INFO comm 0x55{pid} rank {rank} nranks 6 cudaDev {dev} nvmlDev {dev} busId {dev}e0 commId 0x77aa - Init {phase}\n"


@pytest.mark.parametrize("connected", ["Init COMPLETE", "Connected all rings"])
@pytest.mark.parametrize(
    "failed",
    [
        "socketProgressOpt: Call to recv from n2.cluster<43170> failed : Connection timed out",
        "socketProgress: Call to send to 10.2.0.2<43170> failed : No route to host",
        "Net : Connect to 10.2.0.2<54263> failed : No route to host",
        "socketPollConnect: Connect to 10.2.0.2<56849> returned 113(No route to host) errno 115(Operation now in progress)",
    ],
)
def test_sockets_that_fall_silent(tmp_path: Path, failed: str, connected: str) -> None:
    """One log for each host. What only lost its peer afterwards is not named."""
    files = {}
    for host in range(3):
        text = ""
        for dev in range(2):
            rank, pid = 2 * host + dev, 700 + 10 * host + dev
            text += NCCL_UP.format(host=host, pid=pid, dev=dev, rank=rank, phase="START")
            text += (
                f"n{host}:{pid}:{pid} [{dev}] NCCL INFO comm 0x55{pid} rank {rank} nranks 6 cudaDev {dev} nvmlDev {dev} busId {dev}e0 commId 0x77aa - Init COMPLETE\n"
                if connected == "Init COMPLETE"
                else f"n{host}:{pid}:{pid} [{dev}] NCCL INFO Connected all rings\n"
            )
        text += "".join(f"step {n} loss 0.4\n" for n in range(6))
        if host == 1:
            text += f"n1:711:799 [1] misc/socket.cc:47 NCCL WARN {failed}\n"
        if host == 0:
            text += "n0:700:798 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer n1.cluster<39912>\n"
        files[f"n{host}.log"] = text
    found = best(tmp_path, files)
    assert (found.cause, sure(found)) == ("peer_unreachable", [4, 5])


def test_a_port_that_all_processes_of_its_host_hear_of(tmp_path: Path) -> None:
    text = "".join(
        NCCL_UP.format(host=rank // 4, pid=900 + rank, dev=rank % 4, rank=rank, phase="COMPLETE").replace(
            "nranks 6", "nranks 8"
        )
        for rank in range(8)
    )
    heard = "".join(
        f"n1:{900 + rank}:99 [{rank % 4}] NCCL WARN NET/IB : mlx5_2:1 Got async event : port error\n"
        for rank in range(4, 8)
    )
    own = "n1:906:98 [2] NCCL WARN NET/IB: Got completion from peer 10.2.0.0<4401> with status=12 opcode=0 len=0 vendor err 129 (Send)\n"
    waits = "".join(GAVE_UP.format(rank=rank) + "\n" for rank in range(4))
    found = best(tmp_path, {"all.log": text + heard + own + waits})
    assert (found.cause, sure(found)) == ("link_error", [6])
    (tmp_path / "all.log").write_text(text + heard + waits)
    assert not sure(rankandfile.diagnose([tmp_path]).verdicts[0]), "whose port it was, nothing tells"


@pytest.mark.parametrize("name", ["dmesg_ix3.txt", "dmesg-T.ix3.log", "ix3_dmesg.txt", "syslog-ix3"])
@pytest.mark.parametrize(
    "said",
    [
        "[Tue Sep 16 03:52:20 2025] nfs: server vault7 not responding, still trying\n",
        "[Tue Sep 16 03:53:26 2025] INFO: task python3:30511 blocked for more than 122 seconds.\n",
    ],
)
def test_a_kernel_that_waits_for_a_file_system(tmp_path: Path, name: str, said: str) -> None:
    """Of the four hosts with two tasks each, the one left over is that of the ranks that never spoke."""
    job = "".join(GAVE_UP.format(rank=rank) + "\n" for rank in (0, 1, 2, 3, 4, 5))
    job += "".join(f"srun: error: ix{rank // 2}: task {rank}: Aborted (core dumped)\n" for rank in range(6))
    found = best(
        tmp_path,
        {"slurm-1.out": "srun -n 8 --ntasks-per-node=2 python fit.py\nWORLD_SIZE=8\n" + job, name: said},
    )
    assert (found.cause, sure(found)) == ("host_blocked", [6, 7])
    assert "ix3" in found.sentence


def test_what_is_quoted_of_a_kernel_says_where_it_was_cut_and_a_group_without_a_name_has_none(
    tmp_path: Path,
) -> None:
    for rank in range(4):
        waits = "" if rank == 3 else GAVE_UP.format(rank=rank) + "\n"
        (tmp_path / f"rank_{rank}.log").write_text(f"rank {rank}/4 running on ix{rank}\n{waits}")
    said = f"[Tue Sep 16 03:52:20 2025] nfs: server vault7.{'storage-of-the-cluster.' * 8}net not responding, still trying\n"
    (tmp_path / "dmesg-ix3.txt").write_text(said)
    found = rankandfile.diagnose([tmp_path])
    assert found.verdicts[0].culprits[0].doing.endswith(".st…")
    card = shown(found, 100, verbose=True)
    assert "waiting  0-2 perhaps for 3, in all_reduce #777\n" in card


def test_a_last_line_says_where_it_was_cut(tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"rank_{rank}.log").write_text(f"2026-01-05 10:00:56 {'cutting into the dark ' * 9}\n")
    (standing,) = rankandfile.diagnose([tmp_path]).standings
    assert standing.what.endswith("…'")


PODS = "NAME    READY   STATUS    RESTARTS   AGE\n" + "".join(
    f"fit-{n}   {{ready{n}}}   {{status{n}}}   0   21m\n" for n in range(3)
)


@pytest.mark.parametrize(
    ("status", "more"),
    [
        ("Pending", ""),
        (
            "ContainerCreating",
            '3m  Warning  FailedMount  pod/fit-1  MountVolume.SetUp failed for volume "data" : rpc error\n',
        ),
        ("ImagePullBackOff", ""),
        ("Init:0/1", ""),
        ("ErrImagePull", '2m  Warning  Failed  pod/fit-1  Failed to pull image "reg/fit:9": not found\n'),
    ],
)
def test_a_pod_that_never_started(tmp_path: Path, status: str, more: str) -> None:
    table = PODS.format(
        ready0="1/1", status0="Running", ready1="0/1", status1=status, ready2="1/1", status2="Running"
    )
    logs = "$ kubectl logs fit-0\nRANK=0 WORLD_SIZE=3\nINFO init_process_group\n"
    found = best(tmp_path, {"paste.txt": table + more + logs})
    assert (found.cause, sure(found)) == ("init_stuck", [1])


def test_pods_that_all_run_accuse_nobody(tmp_path: Path) -> None:
    table = PODS.format(
        **{f"ready{n}": "1/1" for n in range(3)}, **{f"status{n}": "Running" for n in range(3)}
    )
    found = best(tmp_path, {"paste.txt": table + "RANK=0 WORLD_SIZE=3\nINFO step 4\n"})
    assert not sure(found) and found.hang is not True


@pytest.mark.parametrize(
    "error",
    ["errno: 113 - No route to host", "errno: 111 - Connection refused", "errno: 110 - Connection timed out"],
)
def test_a_rank_that_never_reached_the_store(tmp_path: Path, error: str) -> None:
    files = {
        f"w{rank}.log": f"RANK={rank} WORLD_SIZE=3\n[rank{rank}]: init_process_group\n" for rank in range(3)
    }
    files["w0.log"] += (
        "[rank0]: torch.distributed.DistStoreError: Timed out after 301 seconds waiting for clients. 2/3 clients joined.\n"
    )
    files["w2.log"] += (
        f"[rank2]:[W122 16:40:21.813217928 socket.cpp:755] [c10d] The client socket has failed to connect to [10.0.0.1]:23456 ({error}).\n"
        * 4
    )
    found = best(tmp_path, files)
    assert (found.cause, sure(found)) == ("init_stuck", [2])
    # One who was refused at first and came in later is not named.
    (tmp_path / "w2.log").write_text(
        files["w2.log"]
        + "[rank2]:[W122 16:51:48.9 TCPStore.cpp:106] [c10d] sendBytes failed on SocketImpl(fd=17, addr=[::1]:5, remote=[::1]:23456): Broken pipe\n"
    )
    assert 2 not in sure(rankandfile.diagnose([tmp_path]).verdicts[0])
