"""Text: one reader of prefixes and blocks, and below it what logs and stacks are made of."""
