"""Files decoded by the machines of a cluster: the engine of `--engine ray`."""
