import os

import torch.distributed.checkpoint as dcp


class Keeper:
    def __init__(self, folder, every):
        self.folder, self.every = folder, every

    def maybe(self, step, model, optimizer):
        if step == 0 or step % self.every:
            return
        state = {"model": model.state_dict(), "step": step}
        dcp.save(state, checkpoint_id=os.path.join(self.folder, f"step-{step}"))
