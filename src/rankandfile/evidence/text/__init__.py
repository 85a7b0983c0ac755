"""Text: one reader of prefixes and lines, and below it what logs and stacks make of them."""
