"""What the kernel writes."""

# ruff: noqa: E501 - log lines are as long as they are

from __future__ import annotations

from support.evidence.shape_tests import Example, ShapeTests

MACHINE = [
    Example("K4", "kernel_oom_detail", "[81234.567999] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=pod7,mems_allowed=0-1,oom_memcg=/kubepods/pod7,task_memcg=/kubepods/pod7/c1,task=python3,pid=4242,uid=1000", {"pid": 4242, "constraint": "CONSTRAINT_MEMCG", "time_quality": "boot"}),
    Example("K4", "kernel_oom", "[81234.568100] Memory cgroup out of memory: Killed process 4242 (python3) total-vm:91234567kB, anon-rss:60123456kB, file-rss:0kB, shmem-rss:1024kB, UID:1000 pgtables:120000kB oom_score_adj:0", {"pid": 4242, "name": "python3", "anon_kb": 60123456, "time_ns": 81234_568100_000, "role": "origin"}),
    Example("K4", "kernel_oom", "[Sat Feb  7 08:41:09 2026] Out of memory: Killed process 4242 (python3) total-vm:91234567kB, anon-rss:1kB", {"pid": 4242, "time_quality": "wall"}),
    Example("K4", "kernel_oom_trigger", "[81234.5] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0", {"name": "python3"}),
    Example("K6", "hung_task", "[81234.567999] INFO: task python3:4242 blocked for more than 120 seconds.", {"pid": 4242, "waited_ms": 120_000}),
    Example("K6", "nfs_stalled", "[81234.567999] nfs: server fs01 not responding, still trying", {"peer": "fs01"}),
    Example("K6", "link_down", "[81234.567999] mlx5_core 0000:9d:00.0 mlx5_3: Link down", {"driver": "mlx5_core"}),
]  # fmt: skip


class TestKernel(ShapeTests):
    machine = MACHINE
