"""What commands share of `raf lint`: its options, the process behind an editor, findings beside a running job."""
