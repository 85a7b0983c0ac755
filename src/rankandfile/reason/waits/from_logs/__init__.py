"""Who waits for whom, and what that ends in, where there is not one dump: by the watchdogs' lines of all ranks."""
