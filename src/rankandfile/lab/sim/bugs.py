"""What a fault changes in the source tree. The stored tree is a correct program; a job that goes wrong ran another.

The key is the place of the fault: the marked line where its ranks part. The value says which marked lines read
differently in the tree of that job: mostly that line alone. No line moves.
"""

from __future__ import annotations

BUGS: dict[str, dict[str, str]] = {
    "adapter_if": {"adapter_if": "if x.abs().max().item() > self.cfg.spike_above:"},
    "bad_if": {"at_exit": "atexit.register(dist.destroy_process_group)"},
    "best_if": {"best_if": "if self.last < self.cfg.stop_below:"},
    "best_rank": {"best_rank": "source = dist.get_rank() if self.last < self.value else 0"},
    "broken_if": {"broken_if": "if not math.isfinite(loss):"},
    "double": {"double": "values = values.double() if self.last > self.cfg.spike_above else values"},
    "images_if": {"images_if": "if batch.images is not None:"},
    "late_if": {"late_if": "if time.monotonic() > self.due:"},
    "log_if": {"log_if": "if self.step % self.cfg.log_every == 0 and math.isfinite(self.metrics.last):"},
    "longer": {"longer": "values = torch.cat((self.recent, self.spikes))"},
    "next_batch": {"batches": "self.batches = min(cfg.steps, len(shards))"},
    "nonfinite_if": {"nonfinite_if": "if not math.isfinite(loss):"},
    "norm_if": {"norm_if": "if total < self.cfg.stop_below:"},
    "order_if": {"order_if": "sides = self.sides if loss < self.cfg.spike_above else self.sides[::-1]"},
    "rank0_report_if": {"rank0_report_if": "if self.rank == 0:"},
    "recv_forward_if": {"recv_forward_if": "if self.first or self.inputs:"},
    "ring_if": {"ring_if": "if not k.any():"},
    "send_backward_if": {"send_backward_if": "if self.first or not grad.any():"},
    "splits_if": {"splits_if": "sent = padded(splits) if x.shape[0] % 64 else splits"},
    "stop_if": {"stop_if": "if self.metrics.last < self.cfg.stop_below:"},
    "swallow": {"swallowed": "return"},
    "tp_backward_if": {"tp_backward_if": "if grad.abs().max().item() > 0:"},
    "window_if": {"window_if": "if total > self.cfg.spike_above:"},
    "wrong_group_if": {
        "wrong_group_if": 'if dist.get_rank(groups["tp"]) == dist.get_rank(groups["pp"]) == 0:'
    },
}
