"""Ways of writing stacks: one module each, which calls it `FORMAT`. They are asked in the order of their `ORDER`."""
