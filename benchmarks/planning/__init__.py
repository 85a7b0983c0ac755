"""Programs that were not written for it, under `raf run --plan enforce`."""
