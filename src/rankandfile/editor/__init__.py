"""The linter in an editor: a language server over what `raf lint` says, with text that is not saved yet."""
