"""Lines that the logs of single ranks point to: what one wrote, and no other."""
