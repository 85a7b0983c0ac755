"""What logs and exit lists say of ranks: watchdogs, NCCL's RAS, the kernel, the scheduler, the program itself."""
