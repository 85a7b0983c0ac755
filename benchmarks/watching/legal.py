"""What ranks may legally do differently, over and over for so many seconds: `legal.py all SECONDS`, or one by its name."""

import torch, torch.distributed as dist, time, sys, os, threading

mode = sys.argv[1]
dist.init_process_group("gloo")
r = dist.get_rank()
w = dist.get_world_size()


def reduce_mean(t):
    dist.all_reduce(t)
    return t / w


def log_main(t):
    return reduce_mean(t)


def turn(i):
    for o in range(w):
        if o == r:
            dist.all_reduce(torch.ones(3))
        else:
            dist.all_reduce(torch.zeros(3))


def asym(i):
    t = torch.ones(1)
    reduce_mean(t)
    if r == 0:
        log_main(t)
    else:
        reduce_mean(t)
    reduce_mean(t)


def roots(i):
    for src in range(w):
        if r == src:
            dist.broadcast(torch.ones(5) * i, src)
        else:
            b = torch.empty(5)
            dist.broadcast(b, src)


def uneven(i):
    t = torch.ones(i % 3 + r + 1)
    n = [torch.zeros(1, dtype=torch.long) for _ in range(w)]
    dist.all_gather(n, torch.tensor([t.numel()]))
    m = max(int(x) for x in n)
    p = torch.zeros(m)
    p[: t.numel()] = t
    o = [torch.zeros(m) for _ in range(w)]
    dist.all_gather(o, p)
    objs = [None] * w
    dist.all_gather_object(objs, {"r": "x" * (r * 10 + 1)})
    if r == 0:
        dist.gather(torch.ones(2), [torch.zeros(2) for _ in range(w)], dst=0)
    else:
        dist.gather(torch.ones(2), dst=0)
    dist.scatter(torch.zeros(2), [torch.ones(2)] * w if r == 0 else None, src=0)


def pipe(i):
    t = torch.ones(4)
    if r > 0:
        dist.recv(t, r - 1)
    if r < w - 1:
        dist.send(t, r + 1)
    dist.all_reduce(t)


groups = [dist.new_group([a for a in range(w) if a % 2 == k]) for k in range(2)]
solo = [dist.new_group([k]) for k in range(w)]


def sub(i):
    for _ in range(3 + 4 * (r % 2)):
        dist.all_reduce(torch.ones(2 + r % 2), group=groups[r % 2])
    if r == 1:
        for _ in range(5):
            dist.all_reduce(torch.ones(9), group=solo[1])
    dist.all_reduce(torch.ones(1))


def evalone(i):
    dist.barrier()
    if r == 0 and i % 20 == 10:
        time.sleep(4)
    if r == 0:
        time.sleep(0.01)
    dist.barrier()
    reduce_mean(torch.ones(2))


def threads(i):
    g = groups[0] if r % 2 == 0 else groups[1]
    th = threading.Thread(target=lambda: dist.all_reduce(torch.ones(7), group=g))
    th.start()
    dist.all_reduce(torch.ones(1))
    th.join()


def asyncs(i):
    # async on two groups in other order, waited later: legal
    a, b = (groups[r % 2], None)
    if r % 2:
        w1 = dist.all_reduce(torch.ones(2), group=a, async_op=True)
        w2 = dist.all_reduce(torch.ones(3), async_op=True)
    else:
        w2 = dist.all_reduce(torch.ones(3), async_op=True)
        w1 = dist.all_reduce(torch.ones(2), group=a, async_op=True)
    if i % 30 == 15:
        time.sleep(2.5 * (r + 1) / w)
    w1.wait()
    w2.wait()


def a2a(i):
    ins = [(r + j + i) % 3 + 1 for j in range(w)]
    outs = [(j + r + i) % 3 + 1 for j in range(w)]
    try:
        dist.all_to_all_single(torch.empty(sum(outs)), torch.ones(sum(ins)), outs, ins)
    except RuntimeError:
        dist.barrier()


def reinit(i):
    dist.all_reduce(torch.ones(1))
    if i % 20 == 19:
        dist.destroy_process_group()
        dist.init_process_group(
            "gloo",
            init_method=f"tcp://127.0.0.1:{int(os.environ['MASTER_PORT']) + 1 + i}",
            rank=r,
            world_size=w,
        )


def swap(i):
    # two equal calls from other lines, in another order on rank 0
    t = torch.ones(2)
    if r == 0:
        dist.all_reduce(t)
        reduce_mean(t)
    else:
        reduce_mean(t)
        dist.all_reduce(t)


def mainfirst(i):
    if i % 10 == 0:
        if r != 0:
            dist.barrier()
        else:
            time.sleep(0.2)
            dist.barrier()
    reduce_mean(torch.ones(2))


def bcastlist(i):
    o = [{"a": i}] if r == 0 else [None]
    dist.broadcast_object_list(o, 0)
    reduce_mean(torch.ones(2))


fs = {
    f.__name__: f
    for f in (
        turn,
        asym,
        roots,
        uneven,
        pipe,
        sub,
        evalone,
        threads,
        asyncs,
        a2a,
        reinit,
        swap,
        mainfirst,
        bcastlist,
    )
}

end = time.time() + float(sys.argv[2])
i = 0
stop = torch.zeros(1)
names = list(fs) if mode == "all" else [mode]
if mode == "all":
    names = [n for n in names if n != "reinit"]
while True:
    for n in names:
        if n != "threads" or w > 1:
            fs[n](i)
    time.sleep(0.02)
    i += 1
    s = torch.tensor([1.0 if time.time() > end else 0.0])
    dist.all_reduce(s, op=dist.ReduceOp.MAX)
    if s.item():
        break
print("end", r, i, flush=True)
dist.destroy_process_group()
