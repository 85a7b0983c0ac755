"""The nouns: tables of calls, groups and stacks, the ledger, the case and the diagnosis. No I/O."""
