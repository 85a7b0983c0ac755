"""What NCCL's RAS service answers, as text and as JSON."""
