import torch


def masked_error(predicted, wanted, mask):
    picked = (predicted - wanted)[mask]
    return picked.abs().mean() if len(picked) else torch.zeros(())


class Report:
    """What a step tells about one kind of sample."""

    def __init__(self, module, every=2):
        self.module = module
        self.every = every

    def tell(self, name, value, step):
        if step % self.every:
            return
        self.module.log(f"step/{name}", value, on_step=True, on_epoch=False, sync_dist=True)
