"""What outputs say of ranks and calls, read from the words alone and held against what happened."""
