"""What the ranks' own logs add to a finding: why it came so, where, and who of several it was."""
