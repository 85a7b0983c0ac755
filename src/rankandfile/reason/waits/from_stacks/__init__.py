"""Who waits for whom, and who is to blame, by where the stacks of the ranks stand: no call need be recorded."""
