import argparse

import lightning as L
from callbacks import StopOnWildLoss, Throughput
from data import Sums
from model import Regressor


def build(options):
    return L.Trainer(
        accelerator="cpu",
        devices=options.devices,
        strategy="ddp",
        max_epochs=options.epochs,
        callbacks=[Throughput(), StopOnWildLoss()],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    L.seed_everything(11)
    trainer = build(options)
    trainer.fit(Regressor(), datamodule=Sums())
    trainer.strategy.barrier("done")
    print("done", flush=True)


if __name__ == "__main__":
    main()
