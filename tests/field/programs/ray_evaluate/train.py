import os
import sys

import ray
from loop import train
from ray.train import ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    paths = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])
    ray.init(num_cpus=3, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": paths}})
    trainer = TorchTrainer(
        train,
        train_loop_config={"rate": 0.01, "steps": 12, "every": 5},
        torch_config=TorchConfig(backend="gloo"),
        scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
    )
    trainer.fit()


if __name__ == "__main__":
    sys.exit(main())
