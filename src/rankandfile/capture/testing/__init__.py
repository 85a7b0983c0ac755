"""Distributed tests under watch: what `pytest --raf` does."""
