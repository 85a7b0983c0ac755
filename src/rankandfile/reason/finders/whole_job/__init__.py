"""Ways of finding where no recorded call waits: what the whole job shows, its end, or single lines of its logs."""
