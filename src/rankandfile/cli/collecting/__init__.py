"""What `raf collect` is asked, where that leads, and how it speaks of it."""
