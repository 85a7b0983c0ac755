"""Train the sequence classifier with data parallelism."""

import logging

import parallel
from config import parse_args
from trainer import Trainer


def main():
    config = parse_args()
    logging.basicConfig(
        level=logging.INFO, format=f"%(asctime)s rank {parallel.rank()} %(levelname)s %(name)s: %(message)s"
    )
    parallel.initialise(config.timeout_minutes)
    trainer = Trainer(config)
    trainer.fit()
    parallel.shutdown()


if __name__ == "__main__":
    main()
