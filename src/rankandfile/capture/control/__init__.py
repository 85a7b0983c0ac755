"""`raf control run`: one controller over a script's ranks, by Monarch's actors."""
