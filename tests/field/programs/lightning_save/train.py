import tempfile

import lightning as L
import torch
from keep import KeepBest
from model import Net
from torch.utils.data import DataLoader, TensorDataset


def loader(seed, count):
    made = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 10, generator=made)
    return DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=8, num_workers=0)


def main():
    L.seed_everything(2)
    folder = tempfile.mkdtemp(prefix="best-")
    trainer = L.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=4, logger=False, callbacks=[KeepBest(folder)],
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, num_sanity_val_steps=1,
    )
    trainer.fit(Net(), loader(1, 160), loader(2, 48))


if __name__ == "__main__":
    main()
