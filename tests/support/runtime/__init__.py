"""Programs that run as real ranks."""
