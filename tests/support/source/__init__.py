"""Programs to read, with runs of them."""
