"""The command `raf`: one small module per command that parses, calls and prints."""
